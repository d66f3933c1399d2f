import type { ExecuteOptions, WaitOptions } from './client-executions.ts';
import { type Labels, labelsOf } from './client-labels.ts';
import { waitFor } from './client-wait.ts';
import type { Connection } from './method.ts';
import type { CallOptions, RequestOptions } from './request.ts';
import type { WorkflowRunDetail } from './wire.ts';

export type { WorkflowRunDetail };
/** A workflow run that has ended. */
export type EndedWorkflowRun = WorkflowRunDetail & {
  readonly status: Exclude<WorkflowRunDetail['status'], 'processing'>;
};

export interface RunStatusOptions extends CallOptions {
  readonly omit?: 'bodies';
  readonly include?: 'usage';
}

/** Input of a workflow run. */
export type WorkflowRunInput = Readonly<Record<string, unknown>>;

export function workflows(connection: Connection) {
  return { workflows: { ...workflowRuns(connection), ...workflowDefinitions(connection) } };
}

function workflowRuns({ client, request, method, plain }: Connection) {
  /** Starts a workflow run and returns immediately. */
  function execute(workflowId: string, input: WorkflowRunInput, options: ExecuteOptions = {}) {
    const body = bodyOf(input, options);
    return method('executeWorkflow')(workflowId, body, options);
  }

  /** Waits until the workflow run ends, whatever its status. Throws `WAIT_TIMEOUT` on timeout. */
  function wait(
    workflowId: string,
    workflowRunId: string,
    options: WaitOptions = {},
  ): Promise<EndedWorkflowRun> {
    const params = { workflowId, workflowRunId };
    const route = 'GET /api/v1/workflows/{workflowId}/runs/{workflowRunId}';
    return waitFor(client, workflowRunId, options, {
      read: (query, call) => request(route, { params, query }, call),
      hasEnded: (run): run is EndedWorkflowRun => run.status !== 'processing',
    });
  }

  return {
    execute,
    wait,
    /**
     * Starts a workflow run and waits for its end. Uses a generated idempotency key by default, so
     * retries are safe.
     */
    async executeAndWait(
      workflowId: string,
      input: WorkflowRunInput,
      options: ExecuteOptions & WaitOptions = {},
    ): Promise<EndedWorkflowRun> {
      const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
      const { workflowRunId } = await execute(workflowId, input, { ...options, idempotencyKey });
      return wait(workflowId, workflowRunId, options);
    },
    /** Executes with the session of the dashboard. */
    executeInSession(
      workflowId: string,
      input: WorkflowRunInput,
      options: Pick<RequestOptions, 'signal' | 'idempotencyKey'> & RunFields = {},
    ) {
      const body = bodyOf(input, options);
      return method('executeWorkflowInDashboard')(workflowId, body, options);
    },
    /**
     * The current state of the workflow run and its steps. `omit: 'bodies'` omits input and output; `include: 'usage'` adds
     * tokens and costs.
     */
    status(
      workflowId: string,
      workflowRunId: string,
      { omit, include, ...options }: RunStatusOptions = {},
    ) {
      return method('getWorkflowRun')(workflowId, workflowRunId, { omit, include }, options);
    },
    /** Items of a `forEach` step, in order. `status` contains only the first ones. */
    items: plain('listWorkflowRunItems'),
    /**
     * Starts a workflow run of the items of a step that have not succeeded. An `idempotencyKey` makes retries safe.
     */
    rerunItems: method('rerunFailedItems'),
    /** Cancels a workflow run. Throws `ALREADY_ENDED` if it has ended. */
    cancel: plain('cancelWorkflowRun'),
    runs: plain('listWorkflowRuns'),
  };
}

type RunFields = Labels & Pick<ExecuteOptions, 'maxCostUSD'>;

function bodyOf(input: WorkflowRunInput, options: RunFields) {
  return { input: { ...input }, ...labelsOf(options), maxCostUSD: options.maxCostUSD };
}

function workflowDefinitions({ request, method, plain }: Connection) {
  return {
    create: plain('createWorkflow'),
    list: plain('listWorkflows'),
    get: plain('getWorkflow'),
    /** Also returns the `etag`, which makes a later update safe against concurrent changes. */
    async getWithEtag(workflowId: string, options?: CallOptions) {
      const input = { params: { workflowId } };
      const { body, headers } = await request('GET /api/v1/workflows/{workflowId}', input, options);
      return { workflow: body, etag: headers.get('etag') };
    },
    /** `workflowVersionId` pins another version. */
    update: plain('updateWorkflow'),
    delete: plain('deleteWorkflow'),
    /** Returns all problems of a definition. Saves nothing. */
    validate(definition: unknown, options?: CallOptions) {
      return method('validateWorkflow')({ definition }, options);
    },
    addVersion: plain('createWorkflowVersion'),
    /** Newest first, without the definitions. */
    versions: plain('listWorkflowVersions'),
    getVersion: plain('getWorkflowVersion'),
    /** Pinned versions, newest first. */
    pins: plain('listWorkflowPins'),
  };
}
