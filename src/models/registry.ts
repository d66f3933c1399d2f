import { LruCache } from '../core/lru-cache.ts';
import { emitEnd } from '../core/model/model-events.ts';
import {
  type Emit,
  type ModelCall,
  ModelFailure,
  type ModelPort,
  type ModelResponse,
  noCost,
  noUsage,
  type ProviderDirectory,
  splitModelName,
  type TestConnection,
  unknownCost,
  withDetails,
} from '../core/model/model-port.ts';
import type { ProxySettings } from '../core/proxy-settings.ts';
import { allowedHostCheck, isPublicURL, type Resolve } from '../net/guard.ts';
import { createOutbound, type Outbound } from '../net/outbound.ts';
import { echo } from './adapters/echo.ts';
import { languageModel } from './adapters/language-model.ts';
import { type BreakerState, Breakers } from './capacity/breakers.ts';
import { ByteBudget } from './capacity/byte-budget.ts';
import {
  type ConnectionOf,
  type ConnectionOptions,
  connectionsOf,
} from './connection/connections-of.ts';
import { environmentProviders } from './connection/environment.ts';
import type { Connection } from './connection/provider-connection.ts';
import { priceList, secretsOf } from './connection/settings.ts';
import { listModels, testConnection, tryModel } from './connection-test.ts';
import { withDeadline } from './deadline.ts';
import {
  empty,
  endedInError,
  filtered,
  toFailure,
  unreadableArguments,
} from './failure/model-failure.ts';
import { redactDetails } from './failure/redact.ts';
import { type Generated, generate } from './generate.ts';
import type { ReadableModel } from './port/model.ts';
import { instructionOf } from './request/call-options.ts';
import { type FileFetching, fetchedBytesMax, withFetchedFiles } from './request/files.ts';
import { withMarkedFiles } from './request/marked-files.ts';
import { unreadableCall } from './request/prompt-messages.ts';
import { cost, listedPrices } from './response/prices.ts';
import { requestIdOf } from './response/response-details.ts';

export interface ModelsOptions extends ConnectionOptions {
  /** Maximum calls in flight to one provider with one credential; unlimited if left out. */
  readonly callsMax?: number;
  /** Timeout of a connection test; defaults to `testTimeoutMs`. */
  readonly testTimeoutMs?: number;
  /** Resolves host names; defaults to the system resolver. */
  readonly resolve?: Resolve;
  /** None by default. */
  readonly proxies?: ProxySettings;
}

export interface Models extends ModelPort, ProviderDirectory, Pick<Breakers, 'states'> {
  readonly testConnection: TestConnection;
  close(): Promise<void>;
}

/** A person waits for the result. */
const testTimeoutMs = 10_000;
/** A model may have to be loaded. */
const tryTimeoutMs = 30_000;
/** Small, and no parameter that only some models accept. */
const smallCall = { system: null, user: 'Reply with OK.', temperature: null, topP: null };
const smallCallTokensMax = 64;
/** Maximum cached model objects. */
const modelsMax = 1_000;

/** The models behind `provider/model`: `cueline/echo`, a workspace's own providers, those of the environment. */
export function createModels(options: ModelsOptions): Models {
  return new ModelRegistry(options);
}

class ModelRegistry implements Models {
  readonly #options: ModelsOptions;
  readonly #connectionOf: ConnectionOf;
  readonly #outbound: Outbound;
  readonly #breakers: Breakers;
  readonly #files: FileFetching;
  readonly #models = new LruCache<Promise<ReadableModel>>(modelsMax);

  constructor(options: ModelsOptions) {
    this.#options = options;
    this.#connectionOf = connectionsOf(options);
    this.#outbound = createOutbound(options);
    const { allowedHosts, resolve } = options;
    this.#files = {
      download: this.#outbound.download,
      isPublic: (url) => isPublicURL(url, allowedHosts, resolve),
      isAllowed: allowedHostCheck(allowedHosts),
      budget: new ByteBudget(fetchedBytesMax),
    };
    this.#breakers = new Breakers(options.callsMax ?? Number.POSITIVE_INFINITY);
  }

  readonly call = async (call: ModelCall, emit: Emit): Promise<void> => {
    const { provider, model } = splitModelName(call.model);
    const response = await (provider === 'cueline'
      ? withDeadline(call, noCost, (signal) => priced(call, echo(model, call, signal, emit)))
      : this.#callProvider(provider, model, call, emit));
    emitEnd(emit, response);
  };

  readonly states = (): BreakerState[] => this.#breakers.states();

  // Not through the breaker: an owner who has just fixed a provider must see that, even while executions back off.
  readonly testConnection: TestConnection = async (workspaceId, name, stored, model) => {
    const connection = this.#connectionOf(workspaceId, name, stored);
    const [outbound] = this.#fetchesFor(connection);
    if (model === null) {
      const timeoutMs = this.#options.testTimeoutMs ?? testTimeoutMs;
      await testConnection(connection, outbound, timeoutMs);
      return undefined;
    }
    const timeoutMs = this.#options.testTimeoutMs ?? tryTimeoutMs;
    return tryModel(connection, outbound, timeoutMs, async (fetch, signal) => {
      const call = { ...smallCall, maxTokens: smallCallTokensMax };
      const generated = await generate(await languageModel(connection, model, fetch), call, signal);
      return toResponse(generated, { usage: noUsage, cost: unknownCost }, secretsOf(connection));
    });
  };

  get environment(): ProviderDirectory['environment'] {
    return environmentProviders(this.#options.env);
  }

  readonly listModels: ProviderDirectory['listModels'] = async (workspaceId, name, stored) => {
    const connection = this.#connectionOf(workspaceId, name, stored);
    const [outbound] = this.#fetchesFor(connection);
    return listModels(connection, outbound, this.#options.testTimeoutMs ?? testTimeoutMs);
  };

  readonly listedPrices: ProviderDirectory['listedPrices'] = (workspaceId, name, stored) => {
    try {
      const connection = this.#connectionOf(workspaceId, name, stored);
      return listedPrices(priceList(connection, ''), new Date());
    } catch (error) {
      if (error instanceof ModelFailure) return [];
      throw error;
    }
  };

  close(): Promise<void> {
    return this.#outbound.close();
  }

  async #callProvider(
    provider: string,
    model: string,
    call: ModelCall,
    emit: Emit,
  ): Promise<EndOfResponse> {
    const connection = this.#connectionOf(call.workspaceId, provider, call.setup.provider);
    const generated = await this.#waitForRoom(connection, { provider, model }, call, (signal) =>
      this.#cachedModel(connection, model)
        .then((ready) =>
          withFetchedFiles(ready, call, this.#files, signal, (complete) =>
            withMarkedFiles(complete, (marked) => generate(ready, marked, signal, emit)),
          ).catch((error) => {
            throw describedFailure(error, connection, instructionOf(ready, call));
          }),
        )
        .catch((error) => {
          throw toFailure(error, secretsOf(connection), Date.now());
        }),
    );
    const list = priceList(connection, model);
    const { usage, statedCost: stated, rated } = generated;
    const spent = {
      usage: usage ?? noUsage,
      cost: cost(list, model, usage, call.setup.price, new Date(), { stated, rated }),
    };
    return toResponse(generated, spent, secretsOf(connection));
  }

  /** Waiting for room precedes the timeout of an execution that has called nothing yet, and is part of any other's. */
  #waitForRoom<T>(
    connection: Connection,
    called: { readonly provider: string; readonly model: string },
    call: ModelCall,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { workspaceId, timeoutMs, leftMs = timeoutMs, signal } = call;
    const { baseURL } = connection;
    const credential = JSON.stringify(connection);
    const guarded = { ...called, credential, baseURL, workspaceId, timeoutMs, leftMs, signal };
    if (!call.called) {
      return this.#breakers.run(guarded, () => withDeadline(call, unknownCost, work));
    }
    return withDeadline(call, unknownCost, (ownSignal) =>
      this.#breakers.run({ ...guarded, signal: ownSignal }, () => work(ownSignal)),
    );
  }

  /** For whole and for streamed responses. */
  #fetchesFor({ trusted }: Connection): [typeof fetch, typeof fetch] {
    const name = trusted ? 'trusted' : 'guarded';
    return [this.#outbound[name], this.#outbound.streamed[name]];
  }

  /**
   * Keyed by the settings, not by their revision: revisions restart if a provider is deleted and created again, and the
   * cached model has the old key.
   */
  #cachedModel(connection: Connection, model: string): Promise<ReadableModel> {
    const key = JSON.stringify([connection, model]);
    return this.#models.getOrCreate(key, () => {
      const created = languageModel(connection, model, ...this.#fetchesFor(connection));
      created.catch(() => this.#models.delete(key));
      return created;
    });
  }
}

/** The built-in model is free, unless the workspace has set a price to try limits of cost with. */
async function priced(
  { setup: { price }, model }: ModelCall,
  answer: Promise<EndOfResponse>,
): Promise<EndOfResponse> {
  const response = await answer;
  if (price === null) return response;
  return { ...response, cost: cost('free', model, response.usage, price, new Date()) };
}

type EndOfResponse = Omit<ModelResponse, 'text'>;

/** The failure of a call, with what is known of its request. */
function describedFailure(
  error: unknown,
  connection: Connection,
  instruction: string | null,
): ModelFailure {
  const secrets = secretsOf(connection);
  const failure = toFailure(error, secrets, Date.now());
  const providerRequestId = requestIdOf(error);
  if (providerRequestId === null && instruction === null) return failure;
  const details = {
    ...failure.details,
    ...(providerRequestId !== null && { providerRequestId }),
    ...(instruction !== null && { instruction }),
  };
  return withDetails(failure, redactDetails(details, secrets));
}

function toResponse(
  { text, toolCalls, providerError, details, usage: _, statedCost: __, ...finish }: Generated,
  cost: Pick<ModelResponse, 'usage' | 'cost'>,
  secrets: readonly string[],
): EndOfResponse {
  const spent = { ...cost, details: redactDetails(details, secrets) };
  const { finishReason } = finish;
  if (finishReason === 'content-filter') throw filtered(spent);
  if (finishReason === 'error') throw endedInError(providerError, secrets, spent);
  if (text.trim() === '' && toolCalls.length === 0) throw empty(finishReason, spent);
  const unreadable = unreadableCall(toolCalls);
  if (unreadable) throw unreadableArguments(unreadable, finishReason, spent);
  const calls = toolCalls.length > 0 && { toolCalls };
  return { ...calls, ...finish, ...spent };
}
