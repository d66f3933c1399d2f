import { type CallFields, optionsOf } from './executions.ts';
import { type Labels, labelsOf } from './labels.ts';
import type { CallOptions, Request, RequestOptions } from './request.ts';
import type { BodyOf, Output, QueryOf } from './routes.ts';

export type Agent = Output<'GET /api/v1/agents/{agentId}'>;
export type AgentLimits = Output<'GET /api/v1/agents/{agentId}/limits'>;
export type AgentInput = BodyOf<'POST /api/v1/agents'>;
export type AgentPatch = BodyOf<'PATCH /api/v1/agents/{agentId}'>;
/** Moves an agent from one lifecycle stage to another. */
export type LifecycleAction = BodyOf<'POST /api/v1/agents/{agentId}/lifecycle'>['action'];
export type AgentFilters = QueryOf<'GET /api/v1/agents'>;
export type PinFilters = QueryOf<'GET /api/v1/pins'>;
export type StatisticsQuery = QueryOf<'GET /api/v1/agents/{agentId}/statistics'>;
export type PageQuery = QueryOf<'GET /api/v1/keys'>;
/**
 * `ifMatch`: the `etag` of the last read. The update fails with 412 if the resource changed since.
 */
export type ChangeOptions = Pick<RequestOptions, 'signal' | 'ifMatch'>;

export interface SessionExecuteOptions
  extends Pick<RequestOptions, 'signal' | 'idempotencyKey' | 'retries'>,
    CallFields,
    Labels {}

export function agents(request: Request) {
  return {
    async create(agent: AgentInput, options?: CallOptions): Promise<Agent> {
      return (await request('POST /api/v1/agents', { body: agent }, options)).body;
    },
    async list(filters: AgentFilters = {}, options?: CallOptions) {
      return (await request('GET /api/v1/agents', { query: filters }, options)).body;
    },
    async get(agentId: string, options?: CallOptions): Promise<Agent> {
      return (await request('GET /api/v1/agents/{agentId}', { params: { agentId } }, options)).body;
    },
    /** Also returns the `etag`, which makes a later update safe against concurrent changes. */
    async getWithEtag(agentId: string, options?: CallOptions) {
      const { body, headers } = await request(
        'GET /api/v1/agents/{agentId}',
        { params: { agentId } },
        options,
      );
      return { agent: body, etag: headers.get('etag') };
    },
    /**
     * `agentConfig` is merged and `null` removes a field. `promptVersionId` pins another version.
     */
    async update(agentId: string, patch: AgentPatch, options?: ChangeOptions): Promise<Agent> {
      const input = { params: { agentId }, body: patch };
      return (await request('PATCH /api/v1/agents/{agentId}', input, options)).body;
    },
    async delete(agentId: string, options?: CallOptions): Promise<void> {
      await request('DELETE /api/v1/agents/{agentId}', { params: { agentId } }, options);
    },
    /** Changes the lifecycle stage. `disable` can also cancel running executions. */
    async move(
      agentId: string,
      action: LifecycleAction,
      { cancelRunning, ...options }: CallOptions & { readonly cancelRunning?: boolean } = {},
    ): Promise<Agent> {
      const body = { action, ...(cancelRunning && { cancelRunning }) };
      const input = { params: { agentId }, body };
      return (await request('POST /api/v1/agents/{agentId}/lifecycle', input, options)).body;
    },
    /** Pinned versions, newest first. */
    async pins(agentId: string, query: PageQuery = {}, options?: CallOptions) {
      const input = { params: { agentId }, query };
      return (await request('GET /api/v1/agents/{agentId}/pins', input, options)).body;
    },
    /** Pinned versions of all agents, newest first. */
    async allPins(query: PinFilters = {}, options?: CallOptions) {
      return (await request('GET /api/v1/pins', { query }, options)).body;
    },
    /** Current usage of each limited window. */
    async limits(agentId: string, options?: CallOptions): Promise<AgentLimits> {
      const input = { params: { agentId } };
      return (await request('GET /api/v1/agents/{agentId}/limits', input, options)).body;
    },
    async statistics(agentId: string, query: StatisticsQuery = {}, options?: CallOptions) {
      const input = { params: { agentId }, query };
      return (await request('GET /api/v1/agents/{agentId}/statistics', input, options)).body;
    },
    /** Executes with the session of the dashboard, in any stage. */
    async executeInSession(
      agentId: string,
      variables: Readonly<Record<string, unknown>>,
      options: SessionExecuteOptions = {},
    ) {
      const body = { variables: { ...variables }, ...labelsOf(options), ...optionsOf(options) };
      const input = { params: { agentId }, body };
      return (await request('POST /api/agents/{agentId}/execute', input, options)).body;
    },
  };
}
