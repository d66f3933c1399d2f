import { setTimeout as wait } from 'node:timers/promises';
import type { TestAgent } from '../harness/agents.ts';
import { fromId } from '../src/core/id.ts';

/** Clients that execute agents, one call after the other, and record every response. */

/** One call and its response, including retries. Times are of the monotonic clock. */
export interface Sent {
  /** The unique value of the variable `name`. */
  readonly name: string;
  readonly agent: TestAgent;
  readonly tries: number;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly outcome: Outcome;
}

export type Outcome =
  /** The stored id. */
  | { readonly kind: 'accepted'; readonly executionId: string; readonly replayed: boolean }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: string;
      readonly retryAfter: string | null;
    }
  /** The response is missing or incomplete: only the database knows whether the call was accepted. */
  | { readonly kind: 'broken'; readonly cause: string };

export interface LoadOptions {
  /** Read before each try: the processes that accept calls now. */
  readonly urls: () => readonly string[];
  readonly key: string;
  /** Used round-robin. */
  readonly agents: readonly TestAgent[];
  /** Concurrent calls. */
  readonly clients: number;
  /** The pause of each client between two calls. */
  readonly pauseMs?: number;
  /** All clients stop after this many calls. */
  readonly callsMax?: number;
  /**
   * Sends an `Idempotency-Key` and retries with it until the call is accepted: after a broken connection, a 429 and a
   * 503. Any other refusal ends the call.
   */
  readonly retry?: boolean;
  /** The prefix of `name`, if several loads share a provider. */
  readonly named?: string;
}

export interface Load {
  readonly sent: readonly Sent[];
  /** The number of 202s so far. */
  readonly acceptedCount: number;
  /** The distinct stored ids of the 202s. */
  accepted(): string[];
  /** Waits for the open calls. */
  stop(): Promise<void>;
  /** Resolves when all clients have stopped by themselves. */
  readonly done: Promise<void>;
}

const retryMs = 20;

export function startLoad(options: LoadOptions): Load {
  const sent: Sent[] = [];
  let acceptedCount = 0;
  let stopped = false;
  let calls = 0;

  async function client(): Promise<void> {
    while (!stopped && calls < (options.callsMax ?? Number.POSITIVE_INFINITY)) {
      const agent = options.agents[calls % options.agents.length];
      if (!agent) throw new Error('a load without an agent');
      const one = await call(agent, `${options.named ?? 'call'}-${calls++}`);
      sent.push(one);
      if (one.outcome.kind === 'accepted') acceptedCount++;
      if (options.pauseMs) await wait(options.pauseMs);
    }
  }

  async function call(agent: TestAgent, name: string): Promise<Sent> {
    const sentMs = performance.now();
    for (let tries = 1; ; tries++) {
      const outcome = await once(agent, name, tries);
      if (outcome !== null && (stopped || !options.retry || !isRetryable(outcome))) {
        return { name, agent, tries, sentMs, answeredMs: performance.now(), outcome };
      }
      await wait(retryMs);
    }
  }

  /** Null while no process accepts calls. */
  async function once(agent: TestAgent, name: string, tries: number): Promise<Outcome | null> {
    const urls = options.urls();
    const url = urls[(calls + tries) % Math.max(1, urls.length)];
    if (url === undefined) return stopped ? { kind: 'broken', cause: 'no process' } : null;
    try {
      const response = await fetch(`${url}${agent.path}/execute`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${options.key}`,
          'content-type': 'application/json',
          ...(options.retry && { 'idempotency-key': name }),
        },
        body: JSON.stringify({ variables: { name } }),
      });
      return outcomeOf(response, (await response.json()) as Body);
    } catch (error) {
      const { cause, message } = error as Error & { cause?: { code?: string } };
      return { kind: 'broken', cause: cause?.code ?? message };
    }
  }

  const done = Promise.all(Array.from({ length: options.clients }, client)).then(() => {});
  return {
    sent,
    get acceptedCount() {
      return acceptedCount;
    },
    done,
    accepted: () => [
      ...new Set(
        sent.flatMap(({ outcome }) => (outcome.kind === 'accepted' ? outcome.executionId : [])),
      ),
    ],
    stop() {
      stopped = true;
      return done;
    },
  };
}

/** The parts of a response that are read here. */
interface Body {
  readonly executionId?: string;
  readonly code?: string;
}

function outcomeOf({ status, headers }: Response, { executionId, code = '' }: Body): Outcome {
  if (status !== 202) {
    return { kind: 'refused', status, code, retryAfter: headers.get('retry-after') };
  }
  const stored = fromId('execution', executionId ?? '');
  if (stored === null) throw new Error(`a 202 without an execution: ${executionId}`);
  return {
    kind: 'accepted',
    executionId: stored,
    replayed: headers.get('idempotent-replayed') === 'true',
  };
}

function isRetryable(outcome: Outcome): boolean {
  if (outcome.kind === 'accepted') return false;
  return outcome.kind === 'broken' || outcome.status === 429 || outcome.status === 503;
}
