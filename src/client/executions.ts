import type { CallOptions, ClientOptions, Request } from './request.ts';
import type { Output } from './routes.ts';
import { type WaitOptions, waitFor } from './wait.ts';
import type { ExecutionDetail } from './wire.ts';

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

export type { WaitOptions };

const statusRoute = 'GET /api/v1/agents/{agentId}/executions/{executionId}';

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
    return (await request(statusRoute, { params: { agentId, executionId } }, options)).body;
  }

  /** Waits until the run has ended, however it ends. Throws `WAIT_TIMEOUT` where that takes too long. */
  function wait(
    agentId: string,
    executionId: string,
    options: WaitOptions = {},
  ): Promise<EndedExecution> {
    const params = { agentId, executionId };
    return waitFor(client, executionId, options, {
      read: (query, call) => request(statusRoute, { params, query }, call),
      hasEnded,
    });
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

  return { execute, status, wait, executeAndWait, cancel, deleteExecution };
}

function hasEnded(record: ExecutionDetail): record is EndedExecution {
  return record.status !== 'processing';
}
