import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ExecuteBody, UnparsedBody } from '../../core/agent/variables.ts';
import type { RefusedCall } from '../../core/execution/refusal-advice.ts';
import { CallFailure } from '../../core/failure.ts';
import { executeBody, readIdempotency } from '../../features/executions/routes/execute-call.ts';
import { holdCallBytes } from '../../http/limits/call-bytes.ts';
import { callerAddress } from '../../http/request/caller-address.ts';
import { asCallFailure } from '../../http/response/error-response.ts';
import { type Follower, followCall } from './follow-call.ts';
import { takeArguments } from './mcp-body.ts';
import type { Era, McpRequest } from './mcp-request.ts';
import type { OpenCall, ToolClient } from './open-calls.ts';
import { newTask } from './tasks.ts';
import { refusalResult } from './tool-result.ts';
import { findTool } from './tools.ts';
import { type TrackedCall, trackExecution, trackRun } from './tracked-call.ts';

/**
 * A call of a tool: an execution of an agent or a run of a workflow, admitted like any other. The limit of open calls comes
 * first, because a call that cannot be waited for must not start.
 *
 * Outcomes: the result; a task, if the client knows tasks, after the commit; a refusal as a result that says what to do; an
 * error of the protocol for an unknown tool.
 */
export async function callTool(
  mcp: McpRequest,
  { era, name, context }: ToolCall,
): Promise<CallToolResult> {
  const { id, signal } = context.mcpReq;
  const start = { era, name, takeBody: () => argumentsBody(mcp, id) };
  if (declaresTasks(context)) return started(mcp, start, newTask);
  const open = openCall(mcp, id);
  if (open instanceof CallFailure) return refusalResult(open, Date.now());
  // Before, a client cancels with a notification, and a lost connection is no decision. With an idempotency key, the client
  // can ask for the result again.
  const closes = era === 'modern' && mcp.request.headers['idempotency-key'] === undefined;
  const closing = closes ? [signal] : [];
  const canceled = AbortSignal.any([open.canceled, ...closing]);
  const stop = AbortSignal.any([signal, canceled]);
  try {
    return await started(mcp, start, ({ tracked }) =>
      followCall(tracked, {
        report: progressReporter(mcp, context, stop),
        left: signal,
        canceled,
        reading: {
          bytes: mcp.deps.streams.bytes,
          workspaceId: mcp.caller.workspaceId,
          signal: mcp.closed,
        },
        onFault: (error) => mcp.request.log.error({ err: error }, 'stream failed'),
      }),
    );
  } finally {
    open.release();
  }
}

function openCall(mcp: McpRequest, id: unknown): OpenCall | CallFailure {
  try {
    return mcp.deps.openCalls.acquire(toolClient(mcp), id);
  } catch (error) {
    if (error instanceof CallFailure) return error;
    throw error;
  }
}

interface ToolCall {
  readonly era: Era;
  readonly name: string;
  readonly context: ServerContext;
}

export const tasksExtension = 'io.modelcontextprotocol/tasks';

export function declaresTasks({ mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const capabilities = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as { extensions?: object };
  return Object.hasOwn(capabilities.extensions ?? {}, tasksExtension);
}

interface ToolStart {
  readonly era: Era;
  readonly name: string;
  /** Called once: what waits for the result must not keep the body. */
  readonly takeBody: () => ExecuteBody | UnparsedBody;
}

/** The arguments of a call, as the body of an execute call has them. */
function argumentsBody(
  { deps, body: sent }: Pick<McpRequest, 'deps' | 'body'>,
  id: unknown,
): ExecuteBody | UnparsedBody {
  const body = executeBody(deps.compute, `{"variables":${takeArguments(sent, id)}}`);
  if (body.kind !== 'unparsed') return withTexts(body);
  return { ...body, parse: async (workspaceId) => withTexts(await body.parse(workspaceId)) };
}

function withTexts(body: ExecuteBody): ExecuteBody {
  return body.kind === 'variables' ? { ...body, mayHoldTexts: true } : body;
}

interface StartedCall {
  readonly tracked: TrackedCall;
  readonly nowMs: number;
}

/** Admits the call and continues with what it started. */
async function started(
  mcp: McpRequest,
  start: ToolStart,
  proceed: (call: StartedCall) => CallToolResult | Promise<CallToolResult>,
): Promise<CallToolResult> {
  try {
    const admitted = await admitTool(mcp, start);
    if (admitted.kind !== 'refused') return await proceed(admitted);
    if (admitted.code === 'NOT_FOUND') throw unknownTool(start.name);
    return refusalResult(admitted, admitted.nowMs);
  } catch (error) {
    const failure = asCallFailure(error);
    if (!failure) throw error;
    return refusalResult(failure, Date.now());
  }
}

type AdmittedTool =
  | ({ readonly kind: 'accepted' } & StartedCall)
  | ({ readonly kind: 'refused'; readonly nowMs: number } & RefusedCall);

/** An unknown name is admitted as an unknown agent: it counts for the key like any other call. */
export async function admitTool(
  mcp: McpRequest,
  { takeBody, ...start }: ToolStart,
): Promise<AdmittedTool> {
  const body = takeBody();
  const bytes = body.kind === 'unparsed' ? 2 * body.chars : 0;
  const free = holdCallBytes(mcp.deps.callBytes, mcp.caller.workspaceId, bytes);
  try {
    return await admitNamed(mcp, { ...start, body });
  } finally {
    free();
    // The execution has its arguments; what waits for its result holds no more than `callBytes` counts.
    const { request, body: sent } = mcp;
    if (sent.callArguments.size === 0) request.server.bodyBytes.release(request);
  }
}

interface NamedCall extends Omit<ToolStart, 'takeBody'> {
  readonly body: ExecuteBody | UnparsedBody;
}

async function admitNamed(mcp: McpRequest, { era, name, body }: NamedCall): Promise<AdmittedTool> {
  const { deps, caller, keyHash, request, slug } = mcp;
  const reader = { ...mcp, era };
  const named = await findTool(deps.db, caller, name);
  // The path and the call may name the tool differently.
  const isOffered =
    slug === null || slug === name || (await findTool(deps.db, caller, slug))?.id === named?.id;
  const tool = isOffered ? named : null;
  const call = {
    credential: { kind: 'key', hash: keyHash } as const,
    body,
    ...readIdempotency(request),
  };
  if (tool?.kind === 'workflow') {
    const started = await deps.workflowStarter.start({
      ...call,
      workflowId: tool.id,
      trigger: 'api',
    });
    if (started.kind === 'refused') return started;
    return { kind: 'accepted', nowMs: started.nowMs, tracked: trackRun(reader, started) };
  }
  const admitted = await deps.admission.admit({
    ...call,
    agentId: tool?.id ?? null,
    ipAddress: callerAddress(request),
    userAgent: userAgentOf(mcp) || null,
  });
  deps.onAdmitted(admitted);
  if (admitted.kind === 'refused') return admitted;
  return { kind: 'accepted', nowMs: admitted.nowMs, tracked: trackExecution(reader, admitted) };
}

export function toolClient(mcp: Pick<McpRequest, 'caller' | 'request'>): ToolClient {
  const { caller, request } = mcp;
  return {
    workspaceId: caller.workspaceId,
    keyId: caller.id,
    address: callerAddress(request) ?? '',
    userAgent: userAgentOf(mcp),
  };
}

const userAgentMax = 500;

function userAgentOf({ request }: Pick<McpRequest, 'request'>): string {
  return request.headers['user-agent']?.slice(0, userAgentMax).toWellFormed() ?? '';
}

/** Messages about the progress, as far as the response has room; null for a client that asked for none. */
function progressReporter(
  { budget, response, readsStreams }: McpRequest,
  { mcpReq }: ServerContext,
  stop: AbortSignal,
): Follower['report'] {
  const { progressToken } = mcpReq._meta ?? {};
  if (progressToken === undefined || !readsStreams) return null;
  let progress = 0;
  return async (message) => {
    // First: a turn that is not used would not come again.
    if (!budget.spendOnProgress(message)) return;
    await response.ready(stop);
    if (stop.aborted) return;
    const params = { progressToken, progress: ++progress, message };
    await mcpReq.notify({ method: 'notifications/progress', params });
  };
}

function unknownTool(name: string): ProtocolError {
  const message = `Unknown tool: ${name.slice(0, 100)}. List the tools again.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
