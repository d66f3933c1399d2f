import type { ExecutionDetail } from '../contract/execution-record.ts';
import { retryAfterMs } from './attempt.ts';
import { CuelineError } from './error.ts';
import type { CallOptions, ClientOptions, Request } from './request.ts';
import { sleep } from './retry.ts';
import type { Output } from './routes.ts';

/** Executing an agent, and following the run. */

export type ExecuteAccepted = Output<'POST /api/v1/agents/{agentId}/execute'>;
export type Variables = Readonly<Record<string, unknown>>;

type Figure = 'latencyMs' | 'tokensUsed' | 'inputTokens' | 'outputTokens' | 'costUSD' | 'costKnown';
/** A run that has ended: it has its figures. */
export type EndedExecution = ExecutionDetail &
  Required<Pick<ExecutionDetail, Figure | 'completedAt'>> & {
    readonly status: Exclude<ExecutionDetail['status'], 'processing'>;
  };

export interface ExecuteOptions extends CallOptions {
  /** Makes the call repeatable: with one, it is tried again also where the first attempt may have come through. */
  readonly idempotencyKey?: string;
}

export interface WaitOptions extends CallOptions {
  /** How long to wait in all, in milliseconds; 600,000 unless set. The run itself goes on after it. */
  readonly timeoutMs?: number;
}

const waitTimeoutMsDefault = 600_000;
/** How long one request is held. Shorter than the patience of the usual proxies. */
const holdSecondsMax = 25;
/** How many failures in a row a wait outlives: a restart of the server, for example. */
const waitRetries = 10;
/** Between two requests where the server gives no hint. */
const pollMsDefault = 1_000;

export function executions(request: Request, client: ClientOptions) {
  /** Starts a run and returns at once. */
  async function execute(
    agentId: string,
    variables: Variables,
    options: ExecuteOptions = {},
  ): Promise<ExecuteAccepted> {
    const body = { variables: { ...variables } };
    const input = { params: { agentId }, body };
    return (await request('POST /api/v1/agents/{agentId}/execute', input, options)).body;
  }

  /** The record as it is now. */
  async function status(agentId: string, executionId: string, options: CallOptions = {}) {
    return (await read(agentId, executionId, 0, options)).body;
  }

  /** Waits until the run has ended, however it ends. Throws `WAIT_TIMEOUT` where that takes too long. */
  async function wait(
    agentId: string,
    executionId: string,
    options: WaitOptions = {},
  ): Promise<EndedExecution> {
    const timeoutMs = options.timeoutMs ?? waitTimeoutMsDefault;
    const endsAt = performance.now() + timeoutMs;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    let last: ExecutionDetail | null = null;
    try {
      for (;;) {
        const leftSeconds = Math.ceil((endsAt - performance.now()) / 1000);
        const hold = Math.max(0, Math.min(holdSecondsMax, leftSeconds));
        const { body, headers } = await read(agentId, executionId, hold, { signal });
        if (hasEnded(body)) return body;
        last = body;
        await (client.sleep ?? sleep)(retryAfterMs(headers) ?? pollMsDefault, signal);
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!timeout.aborted || error instanceof CuelineError) throw error;
      const message = `${executionId} has not ended within ${timeoutMs} ms.`;
      throw new CuelineError('WAIT_TIMEOUT', message, { body: last, cause: error });
    }
  }

  /** Starts a run and waits for its end. Safe to repeat: it has an idempotency key of its own unless given one. */
  async function executeAndWait(
    agentId: string,
    variables: Variables,
    options: ExecuteOptions & WaitOptions = {},
  ): Promise<EndedExecution> {
    const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
    const { executionId } = await execute(agentId, variables, { ...options, idempotencyKey });
    return wait(agentId, executionId, options);
  }

  /** Ends a run. Throws `ALREADY_ENDED` where there is nothing left to end. */
  async function cancel(agentId: string, executionId: string, options: CallOptions = {}) {
    const route = 'POST /api/v1/agents/{agentId}/executions/{executionId}/cancel';
    return (await request(route, { params: { agentId, executionId } }, options)).body;
  }

  /** Deletes the record of a run that has ended, for good. */
  async function deleteExecution(agentId: string, executionId: string, options: CallOptions = {}) {
    const route = 'DELETE /api/v1/agents/{agentId}/executions/{executionId}';
    await request(route, { params: { agentId, executionId } }, options);
  }

  function read(agentId: string, executionId: string, hold: number, options: CallOptions) {
    const query = hold > 0 ? { wait: hold } : {};
    const input = { params: { agentId, executionId }, query };
    const patience = hold > 0 ? { ...options, retries: waitRetries } : options;
    return request('GET /api/v1/agents/{agentId}/executions/{executionId}', input, patience);
  }

  return { execute, status, wait, executeAndWait, cancel, deleteExecution };
}

function hasEnded(record: ExecutionDetail): record is EndedExecution {
  return record.status !== 'processing';
}
