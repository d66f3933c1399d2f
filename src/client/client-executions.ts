import { type Labels, labelsOf } from './client-labels.ts';
import type { PromptVersionInput } from './client-records.ts';
import { type WaitOptions, waitFor } from './client-wait.ts';
import type { Connection } from './method.ts';
import type { CallOptions } from './request.ts';
import type { Output } from './routes.ts';
import type { ExecutionDetail } from './wire.ts';

/** Executes an agent and follows the execution. */

export type ExecuteAccepted = Output<'executeAgent'>;
export type ExecutionEvent = Output<'listExecutionEvents'>['events'][number];
export type Variables = Readonly<Record<string, unknown>>;

type Figure = 'latencyMs' | 'tokensUsed' | 'inputTokens' | 'outputTokens';
/**
 * An execution that has ended, with its figures. The cost is absent for a key with `allowedOrigins` and without `read`.
 * `Json` is the type of the output, as the response format of the agent describes it.
 */
export type EndedExecution<Json = unknown> = ExecutionDetail &
  Required<Pick<ExecutionDetail, Figure | 'completedAt'>> & {
    readonly status: Exclude<ExecutionDetail['status'], 'processing'>;
    /** Absent or `null` without a response format, and if the execution failed. */
    readonly outputJson?: Json | null;
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
  /** Fields of a version to execute instead of the pinned one. Only with `playground`. */
  readonly draft?: PromptVersionInput;
  /** The most that the execution or workflow run may cost, in US dollars; an agent may have a lower limit. */
  readonly maxCostUSD?: number;
}

/** The fields of an execute call beside variables and labels. */
export type CallFields = Pick<
  ExecuteOptions,
  'stream' | 'rerunOf' | 'playground' | 'draft' | 'maxCostUSD'
>;

export type { Labels, WaitOptions };

export function executions({ client, request, method, plain }: Connection) {
  /** Starts an execution and returns immediately. */
  function execute(
    agentId: string,
    variables: Variables,
    options: ExecuteOptions = {},
  ): Promise<ExecuteAccepted> {
    const body = { variables: { ...variables }, ...fieldsOf(options) };
    return method('executeAgent')(agentId, body, options);
  }

  /** The current state of the record. */
  function status(agentId: string, executionId: string, options: CallOptions = {}) {
    return method('getExecution')(agentId, executionId, {}, options);
  }

  /** Waits until the execution ends, whatever its status. Throws `WAIT_TIMEOUT` on timeout. */
  function wait<Json = unknown>(
    agentId: string,
    executionId: string,
    options: WaitOptions = {},
  ): Promise<EndedExecution<Json>> {
    const route = 'GET /api/v1/agents/{agentId}/executions/{executionId}';
    const params = { agentId, executionId };
    return waitFor(client, executionId, options, {
      read: (query, call) => request(route, { params, query }, call),
      hasEnded: hasEnded<Json>,
    });
  }

  /**
   * Starts an execution and waits for its end. Uses a generated idempotency key by default, so
   * retries are safe. `Json` types `outputJson`; nothing checks it but the agent's response format.
   */
  async function executeAndWait<Json = unknown>(
    agentId: string,
    variables: Variables,
    options: ExecuteOptions & WaitOptions = {},
  ): Promise<EndedExecution<Json>> {
    const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
    const { executionId } = await execute(agentId, variables, { ...options, idempotencyKey });
    return wait<Json>(agentId, executionId, options);
  }

  return {
    execute,
    status,
    wait,
    executeAndWait,
    /** The most that executions may cost, and what they usually cost. Executes nothing. */
    estimate: plain('estimateCost'),
    /** Cancels an execution. Throws `ALREADY_ENDED` if it has ended. */
    cancel: plain('cancelExecution'),
    /** Permanently deletes the record of an ended execution. */
    deleteExecution: plain('deleteExecution'),
    /** The events sent for an execution, oldest first, with their deliveries. */
    executionEvents: plain('listExecutionEvents.events'),
    /** The turns of the model and the calls of tools, in their order. */
    executionSteps: plain('listExecutionSteps.steps'),
  };
}

/** The fields of a body beside the variables. */
export function fieldsOf({
  stream,
  rerunOf,
  playground,
  draft,
  maxCostUSD,
  ...labels
}: CallFields & Labels) {
  return { ...labelsOf(labels), stream, rerunOf, playground, draft, maxCostUSD };
}

function hasEnded<Json>(record: ExecutionDetail): record is EndedExecution<Json> {
  return record.status !== 'processing';
}
