import type { Role } from './client-records.ts';
import type { Connection } from './method.ts';
import type { CallOptions } from './request.ts';

/** What belongs to the whole workspace, its members and keys. */

export function workspace({ request, method, plain }: Connection) {
  return {
    usage: plain('getUsage'),
    setPlan: plain('setPlan'),
    /** Changes the name. */
    updateWorkspace: plain('updateWorkspace'),
    /** Sums over all agents, or one group per agent with `groupBy: 'agent'`. */
    statistics: plain('getWorkspaceStatistics'),
    /** Retention of records and their bodies, in days. */
    retention: plain('getRetention'),
    setRetention: plain('setRetention'),
    /** Audit log, newest first. */
    audit: plain('listAudit'),
    /** Oldest first. Continue with the last `eventId` as `after`. */
    events: plain('listEvents.events'),
    /** The signed-in user. Requires a session. */
    me: plain('getMe'),
    /** Hides a notice of the dashboard for some days, or for good. Requires a session. */
    dismiss: plain('dismissNotice'),
    /** Deletes the account of the signed-in user. Requires a session. */
    deleteMe: plain('deleteMe'),
    budgets: {
      create: plain('createBudget'),
      list: plain('listBudgets.budgets'),
      get: plain('getBudget'),
      /** Also returns the `etag`, which makes a later `update` or `delete` safe against concurrent changes. */
      async getWithEtag(budgetId: string, options?: CallOptions) {
        const route = 'GET /api/v1/budgets/{budgetId}';
        const { body, headers } = await request(route, { params: { budgetId } }, options);
        return { budget: body, etag: headers.get('etag') };
      },
      update: plain('updateBudget'),
      delete: plain('deleteBudget'),
      /** The latest windows first, and of these the fullest first. */
      windows: plain('listBudgetWindows'),
    },
    keys: {
      create: plain('createKey'),
      list: plain('listKeys'),
      /** Refused calls of the last 30 days, by agent and code. */
      refusals: plain('listKeyRefusals'),
      /** Changes the name and the rate limits. */
      update: plain('updateKey'),
      revoke: plain('revokeKey'),
      /** Issues a new key. The old one stays valid for the grace period. */
      rotate(
        apiKeyId: string,
        { graceSeconds, ...options }: CallOptions & { readonly graceSeconds?: number } = {},
      ) {
        return method('rotateKey')(apiKeyId, { graceSeconds }, options);
      },
    },
    erasures: {
      /** Deletes every record in which this variable has this value, in the background. */
      create: plain('createErasure'),
      /** Counts what it would delete, and deletes nothing. */
      preview: plain('previewErasure'),
      list: plain('listErasures'),
      get: plain('getErasure'),
    },
  };
}

export function people({ request, method, plain }: Connection) {
  return {
    members: {
      list: plain('listMembers.members'),
      update(userId: string, role: Role, options?: CallOptions) {
        return method('updateMember')(userId, { role }, options);
      },
      remove: plain('removeMember'),
    },
    invitations: {
      /** Includes the invitation link in `url`, which is shown once. */
      create: plain('createInvitation'),
      list: plain('listInvitations.invitations'),
      delete: plain('deleteInvitation'),
      /** Shows what the invitation with this token grants. Requires no session. */
      open: plain('getInvitation'),
      accept: plain('acceptInvitation'),
    },
    /** Saved views of executions of the signed-in user. Require a session. */
    views: {
      get: plain('getViews.views'),
      /** Also returns the `etag`, which makes a later `put` safe against concurrent changes. */
      async getWithEtag(options?: CallOptions) {
        const { body, headers } = await request('GET /api/v1/me/views', {}, options);
        return { views: body.views, etag: headers.get('etag') };
      },
      put: plain('putViews'),
    },
  };
}

export function models({ method, plain }: Connection) {
  return {
    providers: {
      /** Replaces the whole configuration, including the credential. */
      put: plain('putProvider'),
      list: plain('listProviders.providers'),
      /** Those that the server's environment configures, for all workspaces. */
      environment: plain('listProviders.environment'),
      /** The models that the provider lists, as `provider/model`, or why it did not. */
      models: plain('listProviderModels'),
      get: plain('getProvider'),
      delete: plain('deleteProvider'),
      /**
       * Tests the connection and the stored credential, with one small call of a model if one is given. Returns a failed
       * test instead of throwing.
       */
      test(name: string, test: { model?: string } = {}, options?: CallOptions) {
        return method('testProvider')(name, test, options);
      },
    },
    prices: {
      put: plain('putPrice'),
      list(options?: CallOptions) {
        return method('listPrices.prices')({}, options);
      },
      /** What the built-in table says for models of a provider. */
      async builtIn(provider: string, options?: CallOptions) {
        return (await method('listPrices')({ provider }, options)).builtIn ?? [];
      },
      delete(model: string, options?: CallOptions) {
        return method('deletePrice')({ model }, options);
      },
    },
  };
}
