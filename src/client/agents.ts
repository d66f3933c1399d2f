import { type CallFields, fieldsOf } from './executions.ts';
import type { Labels } from './labels.ts';
import type { CreateMethod } from './method.ts';
import type { LifecycleAction } from './records.ts';
import type { CallOptions, Request, RequestOptions } from './request.ts';

export interface SessionExecuteOptions
  extends Pick<RequestOptions, 'signal' | 'idempotencyKey' | 'retries'>,
    CallFields,
    Labels {}

export function agents(request: Request, method: CreateMethod) {
  const changeStage = method('changeAgentStage');
  const execute = method('executeAgentInDashboard');
  return {
    /** Also returns the `etag`, which makes a later update safe against concurrent changes. */
    async getWithEtag(agentId: string, options?: CallOptions) {
      const input = { params: { agentId } };
      const { body, headers } = await request('GET /api/v1/agents/{agentId}', input, options);
      return { agent: body, etag: headers.get('etag') };
    },
    /** Changes the lifecycle stage. `disable` can also cancel running executions. */
    move(
      agentId: string,
      action: LifecycleAction,
      { cancelRunning, ...options }: CallOptions & { readonly cancelRunning?: boolean } = {},
    ) {
      return changeStage(agentId, { action, ...(cancelRunning && { cancelRunning }) }, options);
    },
    /** Executes with the session of the dashboard, in any stage. */
    executeInSession(
      agentId: string,
      variables: Readonly<Record<string, unknown>>,
      options: SessionExecuteOptions = {},
    ) {
      return execute(agentId, { variables: { ...variables }, ...fieldsOf(options) }, options);
    },
  };
}
