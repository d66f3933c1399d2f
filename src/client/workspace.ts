import type { PageQuery } from './agents.ts';
import type { CallOptions, Request } from './request.ts';
import type { BodyOf, Output, QueryOf } from './routes.ts';

/**
 * Resources of the whole workspace: usage, plan, statistics, providers, prices, members and
 * invitations.
 */

export type WorkspaceStatisticsQuery = QueryOf<'GET /api/v1/statistics'>;
export type Usage = Output<'GET /api/v1/usage'>;
export type Plan = Output<'PUT /api/v1/plan'>;
export type Provider = Output<'GET /api/v1/providers/{name}'>;
export type ProviderModels = Output<'GET /api/v1/providers/{name}/models'>;
export type EnvironmentProvider = Output<'GET /api/v1/providers'>['environment'][number];
export type ConnectionTest = Output<'POST /api/v1/providers/{name}/test'>;
export type ProviderInput = BodyOf<'PUT /api/v1/providers/{name}'>;
export type Price = Output<'PUT /api/v1/prices'>;
export type PriceInput = BodyOf<'PUT /api/v1/prices'>;
export type Member = Output<'PATCH /api/v1/members/{userId}'>;
export type Role = Member['role'];
export type IssuedInvitation = Output<'POST /api/v1/invitations'>;
export type OpenedInvitation = Output<'GET /api/v1/invitations/by-token/{token}'>;
export type InvitationInput = BodyOf<'POST /api/v1/invitations'>;
export type Acceptance = BodyOf<'POST /api/v1/invitations/accept'>;
export type Retention = Output<'GET /api/v1/retention'>;
export type Erasure = Output<'GET /api/v1/erasures/{erasureId}'>;
export type ErasureInput = BodyOf<'POST /api/v1/erasures'>;
export type AuditFilters = QueryOf<'GET /api/v1/audit'>;
export type View = Output<'POST /api/v1/views'>;
export type ViewInput = BodyOf<'POST /api/v1/views'>;
export type DismissalInput = BodyOf<'PUT /api/v1/me/dismissals'>;
export type Me = Output<'GET /api/v1/me'>;

export function workspace(request: Request) {
  return {
    async usage(options?: CallOptions): Promise<Usage> {
      return (await request('GET /api/v1/usage', {}, options)).body;
    },
    async setPlan(plan: Plan, options?: CallOptions): Promise<Plan> {
      return (await request('PUT /api/v1/plan', { body: plan }, options)).body;
    },
    /** Sums over all agents, or one group per agent with `groupBy: 'agent'`. */
    async statistics(query: WorkspaceStatisticsQuery = {}, options?: CallOptions) {
      return (await request('GET /api/v1/statistics', { query }, options)).body;
    },
    /** Retention of records and their bodies, in days. */
    async retention(options?: CallOptions): Promise<Retention> {
      return (await request('GET /api/v1/retention', {}, options)).body;
    },
    async setRetention(retention: Retention, options?: CallOptions): Promise<Retention> {
      return (await request('PUT /api/v1/retention', { body: retention }, options)).body;
    },
    /** Audit log, newest first. */
    async audit(filters: AuditFilters = {}, options?: CallOptions) {
      return (await request('GET /api/v1/audit', { query: filters }, options)).body;
    },
    /** The signed-in user. Requires a session. */
    async me(options?: CallOptions): Promise<Me> {
      return (await request('GET /api/v1/me', {}, options)).body;
    },
    /** Hides a notice of the dashboard for some days, or for good. Requires a session. */
    async dismiss(dismissal: DismissalInput, options?: CallOptions) {
      return (await request('PUT /api/v1/me/dismissals', { body: dismissal }, options)).body;
    },
    /** Deletes the account of the signed-in user. Requires a session. */
    async deleteMe(options?: CallOptions): Promise<void> {
      await request('DELETE /api/v1/me', {}, options);
    },
  };
}

/** Saved views of executions of the signed-in user. Require a session. */
export function views(request: Request) {
  return {
    async list(options?: CallOptions): Promise<View[]> {
      return (await request('GET /api/v1/views', {}, options)).body.views;
    },
    async create(view: ViewInput, options?: CallOptions): Promise<View> {
      return (await request('POST /api/v1/views', { body: view }, options)).body;
    },
    async update(viewId: string, patch: Partial<ViewInput>, options?: CallOptions): Promise<View> {
      const input = { params: { viewId }, body: patch };
      return (await request('PATCH /api/v1/views/{viewId}', input, options)).body;
    },
    async delete(viewId: string, options?: CallOptions): Promise<void> {
      await request('DELETE /api/v1/views/{viewId}', { params: { viewId } }, options);
    },
  };
}

export function providers(request: Request) {
  return {
    /** Replaces the whole configuration, including the credential. */
    async put(name: string, provider: ProviderInput, options?: CallOptions): Promise<Provider> {
      const input = { params: { name }, body: provider };
      return (await request('PUT /api/v1/providers/{name}', input, options)).body;
    },
    async list(options?: CallOptions): Promise<Provider[]> {
      return (await request('GET /api/v1/providers', {}, options)).body.providers;
    },
    /** Those that the server's environment configures, for all workspaces. */
    async environment(options?: CallOptions): Promise<EnvironmentProvider[]> {
      return (await request('GET /api/v1/providers', {}, options)).body.environment;
    },
    /** The models that the provider lists, as `provider/model`, or why it did not. */
    async models(name: string, options?: CallOptions): Promise<ProviderModels> {
      const input = { params: { name } };
      return (await request('GET /api/v1/providers/{name}/models', input, options)).body;
    },
    async get(name: string, options?: CallOptions): Promise<Provider> {
      return (await request('GET /api/v1/providers/{name}', { params: { name } }, options)).body;
    },
    async delete(name: string, options?: CallOptions): Promise<void> {
      await request('DELETE /api/v1/providers/{name}', { params: { name } }, options);
    },
    /**
     * Tests the connection and the stored credential, with one small call of a model if one is given. Returns a failed
     * test instead of throwing.
     */
    async test(
      name: string,
      test: { model?: string } = {},
      options?: CallOptions,
    ): Promise<ConnectionTest> {
      const input = { params: { name }, body: test };
      return (await request('POST /api/v1/providers/{name}/test', input, options)).body;
    },
  };
}

export function prices(request: Request) {
  return {
    async put(price: PriceInput, options?: CallOptions): Promise<Price> {
      return (await request('PUT /api/v1/prices', { body: price }, options)).body;
    },
    async list(options?: CallOptions): Promise<Price[]> {
      return (await request('GET /api/v1/prices', {}, options)).body.prices;
    },
    async delete(model: string, options?: CallOptions): Promise<void> {
      await request('DELETE /api/v1/prices', { query: { model } }, options);
    },
  };
}

export function members(request: Request) {
  return {
    async list(options?: CallOptions): Promise<Member[]> {
      return (await request('GET /api/v1/members', {}, options)).body.members;
    },
    async update(userId: string, role: Role, options?: CallOptions): Promise<Member> {
      const input = { params: { userId }, body: { role } };
      return (await request('PATCH /api/v1/members/{userId}', input, options)).body;
    },
    async remove(userId: string, options?: CallOptions): Promise<void> {
      await request('DELETE /api/v1/members/{userId}', { params: { userId } }, options);
    },
  };
}

export function invitations(request: Request) {
  return {
    /** Includes the invitation link in `url`, which is shown once. */
    async create(invitation: InvitationInput, options?: CallOptions): Promise<IssuedInvitation> {
      return (await request('POST /api/v1/invitations', { body: invitation }, options)).body;
    },
    async list(options?: CallOptions) {
      return (await request('GET /api/v1/invitations', {}, options)).body.invitations;
    },
    async delete(invitationId: string, options?: CallOptions): Promise<void> {
      const input = { params: { invitationId } };
      await request('DELETE /api/v1/invitations/{invitationId}', input, options);
    },
    /** Shows what the invitation with this token grants. Requires no session. */
    async open(token: string, options?: CallOptions): Promise<OpenedInvitation> {
      const input = { params: { token } };
      return (await request('GET /api/v1/invitations/by-token/{token}', input, options)).body;
    },
    async accept(acceptance: Acceptance, options?: CallOptions) {
      return (await request('POST /api/v1/invitations/accept', { body: acceptance }, options)).body;
    },
  };
}

export function erasures(request: Request) {
  return {
    /** Deletes every record in which this variable has this value, in the background. */
    async create(erasure: ErasureInput, options?: CallOptions): Promise<Erasure> {
      return (await request('POST /api/v1/erasures', { body: erasure }, options)).body;
    },
    async list(page: PageQuery = {}, options?: CallOptions) {
      return (await request('GET /api/v1/erasures', { query: page }, options)).body;
    },
    async get(erasureId: string, options?: CallOptions): Promise<Erasure> {
      const input = { params: { erasureId } };
      return (await request('GET /api/v1/erasures/{erasureId}', input, options)).body;
    },
  };
}
