import type { CallToolResult } from '@modelcontextprotocol/server';
import { notFound } from '../../core/failure.ts';
import { fromId, toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import type { ExecutionKey } from '../../engine/read/executions.ts';
import type { Waiters } from '../../engine/read/wait.ts';
import { type ExecutionStreamEvent, readExecutionStream } from '../../engine/stream/read-stream.ts';
import { mayRead, visibleExecution } from '../../features/people/access/visible-resources.ts';
import { findRunDetail } from '../../features/workflows/statements/workflow-history.ts';
import { runItemsMax } from '../../http/contract/contract-limits.ts';
import { unauthorized } from '../../http/request/credential.ts';
import type { Era, McpRequest } from './mcp-request.ts';
import { executionResult, type ResultLinks, runResult } from './tool-result.ts';
import { findAgentOfExecution, findWorkflowOfRun } from './tools.ts';

/** An accepted call of a tool: an execution or a workflow run, which both have states, a result and an end. */
export interface TrackedCall {
  /** The wire id of the execution or workflow run. */
  readonly taskId: string;
  readonly links: ResultLinks;
  /** The stored id. */
  readonly id: string;
  readonly waiters: Waiters;
  /** As the key may read it now. Throws 401 or 404. */
  read(): Promise<CallState>;
  /** What is written, until the end; nothing for a workflow run, and beyond the workspace's share of streams. */
  openStream(signal: AbortSignal): AsyncGenerator<ExecutionStreamEvent, void, undefined>;
  /** False if it has already ended. */
  cancel(): Promise<boolean>;
}

export interface CallState {
  readonly status: string;
  readonly apiKeyId: string | null;
  readonly createdAt: Date;
  /** Null while it waits. */
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  /** Null until the end. */
  readonly result: CallToolResult | null;
}

/** Who reads it, and how. */
export interface Reader extends Pick<McpRequest, 'deps' | 'caller' | 'keyHash' | 'baseUrl'> {
  readonly era: Era;
}

/** Authenticates the key again, because it may be revoked during a call. */
export async function currentCaller({
  deps,
  keyHash,
}: Pick<McpRequest, 'deps' | 'keyHash'>): Promise<Caller> {
  const caller = await deps.reads.caller(keyHash);
  if (!caller || caller.ended || caller.role === null) throw unauthorized();
  return caller;
}

export function trackExecution(
  reader: Reader,
  { agentId, executionId }: ExecutionKey,
): TrackedCall {
  const { deps } = reader;
  const path = { agentId: toId('agent', agentId), executionId: toId('execution', executionId) };
  const statusUrl = `${reader.baseUrl}/api/v1/agents/${path.agentId}/executions/${path.executionId}`;
  const links = { executionId: path.executionId, statusUrl };
  return {
    taskId: path.executionId,
    links,
    id: executionId,
    waiters: deps.waiters,
    cancel: () => deps.canceler.cancel(executionId),
    openStream: (signal) => streamOf(reader, { agentId, executionId }, signal),
    async read() {
      const caller = await currentCaller(reader);
      const row = await visibleExecution(deps.reads, caller, path, () => {});
      if (!mayRead(caller, row)) throw notFound('execution');
      const viewer = { caller, era: reader.era };
      const { status, apiKeyId, executedAt: createdAt, startedAt, completedAt } = row;
      const result = status === 'processing' ? null : executionResult(row, links, viewer);
      return { status, apiKeyId, createdAt, startedAt, completedAt, result };
    },
  };
}

async function* streamOf({ deps, caller }: Reader, key: ExecutionKey, signal: AbortSignal) {
  const release = deps.shares.streams.tryTake(caller.workspaceId);
  if (!release) return;
  try {
    const { workspaceId } = caller;
    yield* readExecutionStream(deps, { ...key, workspaceId }, null, signal);
  } finally {
    release();
  }
}

export function trackRun(
  reader: Reader,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
): TrackedCall {
  const { deps } = reader;
  const taskId = toId('workflowRun', runId);
  const path = `/api/v1/workflows/${toId('workflow', workflowId)}/runs/${taskId}`;
  const links = { workflowRunId: taskId, statusUrl: reader.baseUrl + path };
  return {
    taskId,
    links,
    id: runId,
    waiters: deps.waiters,
    cancel: () => deps.workflowCanceler.cancel(runId),
    async *openStream() {},
    async read() {
      const caller = await currentCaller(reader);
      const request = { workflowId, id: runId, itemsShown: runItemsMax, omitsBodies: false };
      const row = await findRunDetail(deps.db, caller, request);
      if (!row || !mayRead(caller, row)) throw notFound('workflow run');
      const { status, apiKeyId, executedAt: createdAt, completedAt } = row;
      const result = status === 'processing' ? null : runResult(row, links, caller);
      const started = row.steps.find((step) => step.startedAt !== null);
      return {
        status,
        apiKeyId,
        createdAt,
        startedAt: started?.startedAt ?? null,
        completedAt,
        result,
      };
    },
  };
}

/** The call with this task id; null if there is none in any workspace. Reading it checks access. */
export async function findTracked(reader: Reader, taskId: string): Promise<TrackedCall | null> {
  const { db } = reader.deps;
  const executionId = fromId('execution', taskId);
  if (executionId !== null) {
    const agentId = await findAgentOfExecution(db, executionId);
    return agentId === null ? null : trackExecution(reader, { agentId, executionId });
  }
  const runId = fromId('workflowRun', taskId);
  if (runId === null) return null;
  const workflowId = await findWorkflowOfRun(db, runId);
  return workflowId === null ? null : trackRun(reader, { workflowId, runId });
}
