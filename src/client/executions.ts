import { type Labels, labelsOf } from './labels.ts';
import type { CallOptions, ClientOptions, Request } from './request.ts';
import type { Output } from './routes.ts';
import { type WaitOptions, waitFor } from './wait.ts';
import type { ExecutionDetail } from './wire.ts';

/** Executes an agent and follows the execution. */

export type ExecuteAccepted = Output<'POST /api/v1/agents/{agentId}/execute'>;
export type ExecutionEvent =
  Output<'GET /api/v1/agents/{agentId}/executions/{executionId}/events'>['events'][number];
export type Variables = Readonly<Record<string, unknown>>;

type Figure = 'latencyMs' | 'tokensUsed' | 'inputTokens' | 'outputTokens';
/** An execution that has ended, with its figures. The cost is absent for a key with `allowedOrigins` and without `read`. */
export type EndedExecution = ExecutionDetail &
  Required<Pick<ExecutionDetail, Figure | 'completedAt'>> & {
    readonly status: Exclude<ExecutionDetail['status'], 'processing'>;
  };

export interface ExecuteOptions extends CallOptions, Labels {
  /** Makes the call idempotent: it is retried even if the first attempt may have been accepted. */
  readonly idempotencyKey?: string;
  /** Whether the model's response is read as a stream, so that `stream` shows it as it arrives. Default: the agent's. */
  readonly stream?: boolean;
  /** The execution of this agent that this one runs again. */
  readonly rerunOf?: string;
  /** Marks a playground execution: lists and statistics leave it out unless they are asked for it. */
  readonly playground?: boolean;
}

/** The fields of an execute call beside variables and labels. */
export type CallFields = Pick<ExecuteOptions, 'stream' | 'rerunOf' | 'playground'>;

export type { Labels, WaitOptions };

const statusRoute = 'GET /api/v1/agents/{agentId}/executions/{executionId}';

export function executions(request: Request, client: ClientOptions) {
  /** Starts an execution and returns immediately. */
  async function execute(
    agentId: string,
    variables: Variables,
    options: ExecuteOptions = {},
  ): Promise<ExecuteAccepted> {
    const body = { variables: { ...variables }, ...labelsOf(options), ...optionsOf(options) };
    const input = { params: { agentId }, body };
    return (await request('POST /api/v1/agents/{agentId}/execute', input, options)).body;
  }

  /** The current state of the record. */
  async function status(agentId: string, executionId: string, options: CallOptions = {}) {
    return (await request(statusRoute, { params: { agentId, executionId } }, options)).body;
  }

  /** Waits until the execution ends, whatever its status. Throws `WAIT_TIMEOUT` on timeout. */
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

  /**
   * Starts an execution and waits for its end. Uses a generated idempotency key by default, so
   * retries are safe.
   */
  async function executeAndWait(
    agentId: string,
    variables: Variables,
    options: ExecuteOptions & WaitOptions = {},
  ): Promise<EndedExecution> {
    const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
    const { executionId } = await execute(agentId, variables, { ...options, idempotencyKey });
    return wait(agentId, executionId, options);
  }

  /** Cancels an execution. Throws `ALREADY_ENDED` if it has ended. */
  async function cancel(agentId: string, executionId: string, options: CallOptions = {}) {
    const route = 'POST /api/v1/agents/{agentId}/executions/{executionId}/cancel';
    return (await request(route, { params: { agentId, executionId } }, options)).body;
  }

  /** Permanently deletes the record of an ended execution. */
  async function deleteExecution(agentId: string, executionId: string, options: CallOptions = {}) {
    const route = 'DELETE /api/v1/agents/{agentId}/executions/{executionId}';
    await request(route, { params: { agentId, executionId } }, options);
  }

  /** The events sent for an execution, oldest first, with their deliveries. */
  async function executionEvents(
    agentId: string,
    executionId: string,
    options: CallOptions = {},
  ): Promise<ExecutionEvent[]> {
    const route = 'GET /api/v1/agents/{agentId}/executions/{executionId}/events';
    return (await request(route, { params: { agentId, executionId } }, options)).body.events;
  }

  return { execute, status, wait, executeAndWait, cancel, deleteExecution, executionEvents };
}

export function optionsOf({ stream, rerunOf, playground }: CallFields) {
  return {
    ...(stream !== undefined && { stream }),
    ...(rerunOf !== undefined && { rerunOf }),
    ...(playground !== undefined && { playground }),
  };
}

function hasEnded(record: ExecutionDetail): record is EndedExecution {
  return record.status !== 'processing';
}
