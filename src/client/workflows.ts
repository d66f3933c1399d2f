import type { ChangeOptions, PageQuery } from './agents.ts';
import type { ExecuteOptions, WaitOptions } from './executions.ts';
import { type Labels, labelsOf } from './labels.ts';
import type { CallOptions, ClientOptions, Request, RequestOptions } from './request.ts';
import type { BodyOf, Output, QueryOf } from './routes.ts';
import { waitFor } from './wait.ts';
import type { WorkflowRunDetail } from './wire.ts';

export type Workflow = Output<'GET /api/v1/workflows/{workflowId}'>;
export type WorkflowInput = BodyOf<'POST /api/v1/workflows'>;
export type WorkflowPatch = BodyOf<'PATCH /api/v1/workflows/{workflowId}'>;
export type WorkflowFilters = QueryOf<'GET /api/v1/workflows'>;
export type WorkflowVersion =
  Output<'GET /api/v1/workflows/{workflowId}/versions/{workflowVersionId}'>;
export type WorkflowVersionInput = BodyOf<'POST /api/v1/workflows/{workflowId}/versions'>;
export type WorkflowRunFilters = QueryOf<'GET /api/v1/workflows/{workflowId}/runs'>;
export type WorkflowItemFilters =
  QueryOf<'GET /api/v1/workflows/{workflowId}/runs/{workflowRunId}/steps/{stepName}/items'>;
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

export function workflows(request: Request, client: ClientOptions) {
  return { ...workflowRuns(request, client), ...workflowDefinitions(request) };
}

function workflowRuns(request: Request, client: ClientOptions) {
  /** Starts a workflow run and returns immediately. */
  async function execute(
    workflowId: string,
    input: WorkflowRunInput,
    options: ExecuteOptions = {},
  ) {
    const body = { input: { ...input }, ...labelsOf(options) };
    const call = { params: { workflowId }, body };
    return (await request('POST /api/v1/workflows/{workflowId}/execute', call, options)).body;
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
    async executeInSession(
      workflowId: string,
      input: WorkflowRunInput,
      options: Pick<RequestOptions, 'signal' | 'idempotencyKey'> & Labels = {},
    ) {
      const body = { input: { ...input }, ...labelsOf(options) };
      const call = { params: { workflowId }, body };
      return (await request('POST /api/workflows/{workflowId}/execute', call, options)).body;
    },
    /**
     * The current state of the workflow run and its steps. `omit: 'bodies'` omits input and output; `include: 'usage'` adds
     * tokens and costs.
     */
    async status(workflowId: string, workflowRunId: string, options: RunStatusOptions = {}) {
      const route = 'GET /api/v1/workflows/{workflowId}/runs/{workflowRunId}';
      const { omit, include, ...call } = options;
      const params = { workflowId, workflowRunId };
      const query = { ...(omit && { omit }), ...(include && { include }) };
      return (await request(route, { params, query }, call)).body;
    },
    /** Items of a `forEach` step, in order. `status` contains only the first ones. */
    async items(
      workflowId: string,
      workflowRunId: string,
      stepName: string,
      filters: WorkflowItemFilters = {},
      options?: CallOptions,
    ) {
      const route =
        'GET /api/v1/workflows/{workflowId}/runs/{workflowRunId}/steps/{stepName}/items';
      const params = { workflowId, workflowRunId, stepName };
      return (await request(route, { params, query: filters }, options)).body;
    },
    /** Cancels a workflow run. Throws `ALREADY_ENDED` if it has ended. */
    async cancel(workflowId: string, workflowRunId: string, options?: CallOptions) {
      const route = 'POST /api/v1/workflows/{workflowId}/runs/{workflowRunId}/cancel';
      return (await request(route, { params: { workflowId, workflowRunId } }, options)).body;
    },
    async runs(workflowId: string, filters: WorkflowRunFilters = {}, options?: CallOptions) {
      const input = { params: { workflowId }, query: filters };
      return (await request('GET /api/v1/workflows/{workflowId}/runs', input, options)).body;
    },
  };
}

function workflowDefinitions(request: Request) {
  return {
    async create(workflow: WorkflowInput, options?: CallOptions): Promise<Workflow> {
      return (await request('POST /api/v1/workflows', { body: workflow }, options)).body;
    },
    async list(filters: WorkflowFilters = {}, options?: CallOptions) {
      return (await request('GET /api/v1/workflows', { query: filters }, options)).body;
    },
    async get(workflowId: string, options?: CallOptions): Promise<Workflow> {
      const input = { params: { workflowId } };
      return (await request('GET /api/v1/workflows/{workflowId}', input, options)).body;
    },
    /** Also returns the `etag`, which makes a later update safe against concurrent changes. */
    async getWithEtag(workflowId: string, options?: CallOptions) {
      const input = { params: { workflowId } };
      const { body, headers } = await request('GET /api/v1/workflows/{workflowId}', input, options);
      return { workflow: body, etag: headers.get('etag') };
    },
    /** `workflowVersionId` pins another version. */
    async update(
      workflowId: string,
      patch: WorkflowPatch,
      options?: ChangeOptions,
    ): Promise<Workflow> {
      const input = { params: { workflowId }, body: patch };
      return (await request('PATCH /api/v1/workflows/{workflowId}', input, options)).body;
    },
    async delete(workflowId: string, options?: CallOptions): Promise<void> {
      await request('DELETE /api/v1/workflows/{workflowId}', { params: { workflowId } }, options);
    },
    /** Returns all problems of a definition. Saves nothing. */
    async validate(definition: unknown, options?: CallOptions) {
      const input = { body: { definition } };
      return (await request('POST /api/v1/workflows/validate', input, options)).body;
    },
    async addVersion(
      workflowId: string,
      version: WorkflowVersionInput,
      options?: CallOptions,
    ): Promise<WorkflowVersion> {
      const input = { params: { workflowId }, body: version };
      return (await request('POST /api/v1/workflows/{workflowId}/versions', input, options)).body;
    },
    /** Newest first, without the definitions. */
    async versions(workflowId: string, query: PageQuery = {}, options?: CallOptions) {
      const input = { params: { workflowId }, query };
      return (await request('GET /api/v1/workflows/{workflowId}/versions', input, options)).body;
    },
    async getVersion(
      workflowId: string,
      workflowVersionId: string,
      options?: CallOptions,
    ): Promise<WorkflowVersion> {
      const route = 'GET /api/v1/workflows/{workflowId}/versions/{workflowVersionId}';
      return (await request(route, { params: { workflowId, workflowVersionId } }, options)).body;
    },
    /** Pinned versions, newest first. */
    async pins(workflowId: string, query: PageQuery = {}, options?: CallOptions) {
      const input = { params: { workflowId }, query };
      return (await request('GET /api/v1/workflows/{workflowId}/pins', input, options)).body;
    },
  };
}
