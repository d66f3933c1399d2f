import { type EndStatus, isPlayground, type StoredSource } from '../execution/execution.ts';
import type { ExecutionErrorCode } from '../failure.ts';
import { toId } from '../id.ts';
import type { Labels } from '../labels.ts';
import type { EventType, NewEvent } from './event.ts';

/** Events of executions and workflow runs. */

const executionTypes: Readonly<Record<EndStatus, EventType>> = {
  success: 'execution.succeeded',
  failed: 'execution.failed',
  canceled: 'execution.canceled',
  rate_limited: 'execution.refused',
  unauthorized: 'execution.refused',
};

/** The end of an execution, or its refusal. */
export interface ReportedExecution {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly source: StoredSource;
  readonly status: EndStatus;
  readonly errorCode: ExecutionErrorCode | null;
  readonly tokensUsed: number;
  readonly costUsd: string;
  readonly labels: Labels | null;
  readonly atMs: number;
}

export function executionEvent(ended: ReportedExecution): NewEvent {
  const { id, workspaceId, agentId, status, errorCode, tokensUsed, labels, atMs } = ended;
  const data = JSON.stringify({
    ...{ executionId: toId('execution', id), agentId: toId('agent', agentId) },
    ...{ status, errorCode, tokensUsed, costUSD: Number(ended.costUsd) },
    ...(isPlayground(ended.source) && { playground: true }),
  });
  return {
    ...{ workspaceId, type: executionTypes[status], atMs, subject: id, agentId },
    user: labels?.user ?? null,
    data: withLabels(data, labels),
  };
}

const workflowRunTypes = {
  success: 'workflow_run.succeeded',
  failed: 'workflow_run.failed',
  canceled: 'workflow_run.canceled',
} as const satisfies Record<string, EventType>;

export interface ReportedWorkflowRun {
  readonly id: string;
  readonly workspaceId: string;
  readonly workflowId: string;
  readonly status: keyof typeof workflowRunTypes;
  readonly errorCode: string | null;
  readonly labels: Labels | null;
  readonly atMs: number;
}

export function workflowRunEvent(ended: ReportedWorkflowRun): NewEvent {
  const { id, workspaceId, workflowId, status, errorCode, labels, atMs } = ended;
  const data = JSON.stringify({
    ...{ workflowRunId: toId('workflowRun', id), workflowId: toId('workflow', workflowId) },
    ...{ status, errorCode },
  });
  return {
    ...{ workspaceId, type: workflowRunTypes[status], atMs, subject: id, agentId: null },
    user: labels?.user ?? null,
    data: withLabels(data, labels),
  };
}

/** Metadata stays the text that the caller sent. */
function withLabels(object: string, labels: Labels | null): string {
  const { user = null, session = null, tags = null, metadata = null } = labels ?? {};
  const texts = [user, session, tags].map((one) => JSON.stringify(one));
  return `${object.slice(0, -1)},"user":${texts[0]},"session":${texts[1]},"tags":${texts[2]},"metadata":${metadata}}`;
}
