import { type CallFields, fieldsOf } from './client-executions.ts';
import type { Labels } from './client-labels.ts';
import type { LifecycleAction } from './client-records.ts';
import type { Connection } from './method.ts';
import type { CallOptions, RequestOptions } from './request.ts';

export interface SessionExecuteOptions
  extends Pick<RequestOptions, 'signal' | 'idempotencyKey' | 'retries'>,
    CallFields,
    Labels {}

export function agents({ request, method, plain }: Connection) {
  return {
    agents: {
      create: plain('createAgent'),
      list: plain('listAgents'),
      get: plain('getAgent'),
      /** Also returns the `etag`, which makes a later update safe against concurrent changes. */
      async getWithEtag(agentId: string, options?: CallOptions) {
        const input = { params: { agentId } };
        const { body, headers } = await request('GET /api/v1/agents/{agentId}', input, options);
        return { agent: body, etag: headers.get('etag') };
      },
      /** `agentConfig` is merged and `null` removes a field. `promptVersionId` pins another version. */
      update: plain('updateAgent'),
      delete: plain('deleteAgent'),
      /** Changes the lifecycle stage. `disable` can also cancel running executions. */
      move(
        agentId: string,
        action: LifecycleAction,
        { cancelRunning, ...options }: CallOptions & { readonly cancelRunning?: boolean } = {},
      ) {
        const body = { action, ...(cancelRunning && { cancelRunning }) };
        return method('changeAgentStage')(agentId, body, options);
      },
      /** Pinned versions, newest first. */
      pins: plain('listPins'),
      /** Pinned versions of all agents, newest first. */
      allPins: plain('listAllPins'),
      /** Refused calls of the last 30 days, by key and code. */
      refusals: plain('listRefusals'),
      /** Current usage of each limited window. */
      limits: plain('getAgentLimits'),
      statistics: plain('getStatistics'),
      /** Executes with the session of the dashboard, in any stage. */
      executeInSession(
        agentId: string,
        variables: Readonly<Record<string, unknown>>,
        options: SessionExecuteOptions = {},
      ) {
        const body = { variables: { ...variables }, ...fieldsOf(options) };
        return method('executeAgentInDashboard')(agentId, body, options);
      },
    },
  };
}

export function prompts({ request, plain }: Connection) {
  return {
    prompts: {
      create: plain('createPrompt'),
      list: plain('listPrompts'),
      get: plain('getPrompt'),
      /** Also returns the `etag`, which makes a later update safe against concurrent changes. */
      async getWithEtag(promptId: string, options?: CallOptions) {
        const input = { params: { promptId } };
        const { body, headers } = await request('GET /api/v1/prompts/{promptId}', input, options);
        return { prompt: body, etag: headers.get('etag') };
      },
      update: plain('updatePrompt'),
      archive: plain('archivePrompt'),
      restore: plain('restorePrompt'),
    },
    versions: {
      create: plain('createPromptVersion'),
      /** Newest first, without the templates. */
      list: plain('listPromptVersions'),
      get: plain('getPromptVersion'),
    },
  };
}
