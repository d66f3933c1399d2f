import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { asCallFailure } from '../../http/response/error-response.ts';
import type { McpRequest } from './mcp-request.ts';
import { type CallState, currentCaller, findTracked, type TrackedCall } from './tracked-call.ts';

/**
 * The extension for tasks. A task is an execution or a workflow run and has its id, so it is durable before its id is known,
 * and every process can read it, for as long as the record exists.
 */

const pollIntervalMs = 1_000;

/** The answer to a call whose client knows tasks. The call is committed. */
export function newTask({
  tracked,
  nowMs,
}: {
  tracked: TrackedCall;
  nowMs: number;
}): CallToolResult {
  const at = new Date(nowMs).toISOString();
  const { taskId, links } = tracked;
  return {
    resultType: 'task',
    taskId,
    status: 'working',
    createdAt: at,
    lastUpdatedAt: at,
    ttlMs: null,
    pollIntervalMs,
    _meta: links,
    // The library knows only the result of a tool, which has contents.
  } as unknown as CallToolResult;
}

export async function getTask(mcp: McpRequest, taskId: string): Promise<Record<string, unknown>> {
  const { state } = await readTask(mcp, taskId);
  const { createdAt, startedAt, completedAt, result } = state;
  const task = {
    taskId,
    status: taskStatus(state),
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: (completedAt ?? startedAt ?? createdAt).toISOString(),
    ttlMs: null,
    pollIntervalMs,
  };
  if (state.status === 'canceled') return task;
  return result ? { ...task, result } : task;
}

/** Also acknowledges the cancel of a task that has ended. */
export async function cancelTask(
  mcp: McpRequest,
  taskId: string,
): Promise<Record<string, unknown>> {
  const { tracked, state } = await readTask(mcp, taskId);
  const caller = await currentCaller(mcp);
  // A key may always cancel what it started.
  if (state.apiKeyId !== caller.id && !caller.rights.includes('cancel')) {
    const message = 'This needs the permission "cancel": another key started the task.';
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  await tracked.cancel();
  return {};
}

/** Tasks never ask for input, so answers to questions are ignored, as the extension requires. */
export async function acknowledgeTask(
  mcp: McpRequest,
  taskId: string,
): Promise<Record<string, unknown>> {
  await readTask(mcp, taskId);
  return {};
}

/** A failure of the agent is a completed task whose result is an error; `failed` is for errors of the protocol. */
function taskStatus({ status }: CallState): string {
  if (status === 'processing') return 'working';
  return status === 'canceled' ? 'cancelled' : 'completed';
}

async function readTask(
  mcp: McpRequest,
  taskId: string,
): Promise<{ readonly tracked: TrackedCall; readonly state: CallState }> {
  const tracked = await findTracked({ ...mcp, era: 'modern' }, taskId);
  if (!tracked) throw unknownTask();
  try {
    return { tracked, state: await tracked.read() };
  } catch (error) {
    if (asCallFailure(error)?.code === 'NOT_FOUND') throw unknownTask();
    throw error;
  }
}

function unknownTask(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such task.');
}
