import {
  type ModelAnswer,
  type ModelCall,
  type ModelPort,
  noCost,
  noUsage,
  splitModelName,
  type TestConnection,
  unknownCost,
} from '../core/model/model-port.ts';
import type { StoredProvider } from '../core/model/provider.ts';
import { withDeadline } from '../net/deadline.ts';
import type { Resolve } from '../net/guard.ts';
import { createOutbound } from '../net/outbound.ts';
import { type Breakers, createBreakers } from './breakers.ts';
import { testConnection } from './connection-test.ts';
import { echo } from './echo.ts';
import { fromEnvironment, ownOllama, type ProviderEnv, variableFor } from './environment.ts';
import { brokenOff, filtered, toFailure } from './failure.ts';
import { type Generated, generate } from './generate.ts';
import { languageModel, type Model } from './language-model.ts';
import { LruCache } from './lru-cache.ts';
import { cost } from './prices.ts';
import {
  type Connection,
  complete,
  missing,
  type ProviderSettings,
  priceList,
} from './settings.ts';

export interface ModelsOptions {
  /** Opens what a workspace has stored under that name; throws a `ModelFailure` where it does not open. */
  readonly open: (
    workspaceId: string,
    providerName: string,
    stored: StoredProvider,
  ) => ProviderSettings;
  readonly env: ProviderEnv;
  /** Hosts that a workspace's base URL may have though they are private: `host`, `host:port`, `[IPv6]:port`. */
  readonly allowedHosts: readonly string[];
  /** Calls at once to one provider with one credential; any number where it is left out. */
  readonly callsMax?: number;
  /** What a provider gets to answer the test of a connection; `testTimeoutMs` where it is left out. */
  readonly testTimeoutMs?: number;
  /** How names are resolved; the system's way where it is left out. */
  readonly resolve?: Resolve;
}

export interface Models extends ModelPort, Pick<Breakers, 'states'> {
  readonly testConnection: TestConnection;
  close(): Promise<void>;
}

/** Someone waits before a button. */
const testTimeoutMs = 10_000;
/** Model objects that are kept ready. */
const modelsMax = 1_000;

/** The models behind `provider/model`: `cueline/echo`, a workspace's own providers, those of the environment. */
export function createModels(options: ModelsOptions): Models {
  const outbound = createOutbound(options);
  const models = new LruCache<Promise<Model>>(modelsMax);
  const breakers = createBreakers(options.callsMax ?? Number.POSITIVE_INFINITY);

  return {
    call: (call) => {
      const { provider, model } = splitModelName(call.model);
      return provider === 'cueline'
        ? withDeadline(call, noCost, (signal) => echo(model, call, signal))
        : ask(provider, model, call);
    },
    states: breakers.states,
    // Not through the breaker: who has just mended a provider must be told so while runs still leave it alone.
    async testConnection(workspaceId, name, stored) {
      const connection = connect(workspaceId, name, stored);
      await testConnection(connection, through(connection), options.testTimeoutMs ?? testTimeoutMs);
    },
    close: () => outbound.close(),
  };

  async function ask(provider: string, model: string, call: ModelCall): Promise<ModelAnswer> {
    const connection = connect(call.workspaceId, provider, call.setup.provider);
    const secrets = connection.apiKey ? [connection.apiKey] : [];
    const key = JSON.stringify(connection);
    const generated = await inTurn({ key, provider }, call, (signal) =>
      kept(connection, model)
        .then((ready) => generate(ready, call, signal))
        .catch((error) => {
          throw toFailure(error, secrets, Date.now());
        }),
    );
    const list = priceList(connection, model);
    const spent = {
      usage: generated.usage ?? noUsage,
      cost: cost(list, model, generated.usage, call.setup.price, new Date()),
    };
    return answered(generated, spent, secrets);
  }

  /** The wait in line comes before the time of a run that has called nothing yet, and is part of any other's. */
  function inTurn<T>(
    whose: { key: string; provider: string },
    call: ModelCall,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { workspaceId, timeoutMs, signal } = call;
    const guarded = { ...whose, workspaceId, timeoutMs, signal };
    return call.called
      ? withDeadline(call, unknownCost, (ownSignal) =>
          breakers.through({ ...guarded, signal: ownSignal }, () => work(ownSignal)),
        )
      : breakers.through(guarded, () => withDeadline(call, unknownCost, work));
  }

  function connect(
    workspaceId: string,
    provider: string,
    stored: StoredProvider | null,
  ): Connection {
    const settings = stored
      ? options.open(workspaceId, provider, stored)
      : fromEnvironment(options.env, provider);
    if (settings) return complete(settings, stored === null, ownOllama(options.env));
    const variable = variableFor(provider);
    throw missing(
      provider,
      `store its credentials in the workspace${variable ? `, or set ${variable} on the server` : ''}`,
    );
  }

  function through({ trusted }: Connection): typeof fetch {
    return trusted ? outbound.trusted : outbound.guarded;
  }

  /**
   * Keyed by the settings themselves and not by a revision of them: a provider that is removed and made anew begins its
   * revisions again, and would meet the model of the old key.
   */
  function kept(connection: Connection, model: string): Promise<Model> {
    const key = JSON.stringify([connection, model]);
    return models.getOrCreate(key, () => {
      const made = languageModel(connection, model, through(connection));
      made.catch(() => models.delete(key));
      return made;
    });
  }
}

function answered(
  { text, finishReason, complaint }: Generated,
  spent: Pick<ModelAnswer, 'usage' | 'cost'>,
  secrets: readonly string[],
): ModelAnswer {
  if (finishReason === 'content-filter') throw filtered(spent);
  if (finishReason === 'error') throw brokenOff(complaint, secrets, spent);
  return { text, finishReason, ...spent };
}
