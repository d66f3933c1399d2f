import type { FastifyReply, FastifyRequest } from 'fastify';
import { type CallBody, suppliedMessages } from '../../core/agent/conversation.ts';
import type { ByteShares, FreeBytes } from '../../core/byte-shares.ts';
import type { Execution } from '../../core/execution/execution-fields.ts';
import { bodyFailure } from '../../core/execution/refusal-messages.ts';
import { CallFailure } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import type { Admitted, AppliedSettings } from '../../engine/admit/admit.ts';
import { cancelAbandoned } from '../../engine/complete/cancel-abandoned.ts';
import { awaitEnd } from '../../engine/read/await-end.ts';
import type { FoundExecution } from '../../engine/read/shared-reads.ts';
import { type ExecutionStreamEvent, readExecutionStream } from '../../engine/stream/read-stream.ts';
import type { ApiDeps } from '../../features/api-deps.ts';
import { keyLimit, readIdempotency } from '../../features/executions/routes/execute-call.ts';
import { findAgentId, readableExecution } from '../../features/people/access/visible-resources.ts';
import { abortOnDisconnect } from '../../http/connection/disconnect.ts';
import { allowOrigin } from '../../http/cors.ts';
import { holdCallBytes } from '../../http/limits/call-bytes.ts';
import { rateHeaders } from '../../http/limits/rate-headers.ts';
import { readCallBody } from '../../http/request/body.ts';
import { callerAddress } from '../../http/request/caller-address.ts';
import { bearerHash, unauthorized } from '../../http/request/credential.ts';
import { asCallFailure } from '../../http/response/error-response.ts';
import type { CallRequest } from './call-request.ts';
import { lastTurnOf } from './last-turn.ts';
import { getResponse } from './openai.ts';
import type { OpenAiApi } from './read-call.ts';
import { invalidValue } from './read-parameters.ts';
import { readSent, type Sent } from './read-sent.ts';

/**
 * A call of an agent over the OpenAI API. It goes through admission like any other: the same order of checks, limits, quota
 * and records. The first byte of the response follows the commit.
 *
 * A client that disconnects before the end cancels the execution, unless it runs in the background or has an idempotency
 * key: then the client may come back for it. A process that shuts down cancels nothing.
 */
export interface AgentCall {
  readonly call: CallRequest;
  readonly caller: Caller;
  readonly agentId: string;
  readonly executionId: string;
  /** Null for a replay. */
  readonly settings: AppliedSettings | null;
  /** Reads the execution as it is now. Throws if the key may not read it any more. */
  read(): Promise<SeenExecution>;
  /** Waits for the end, and reads it likewise. Null if the client has left. */
  end(): Promise<SeenExecution | null>;
  /** Throws if the key may not read the execution any more. */
  check(): Promise<unknown>;
  /** The text as it comes, and the end. */
  events(signal: AbortSignal): AsyncIterable<ExecutionStreamEvent>;
  /** What is held for readers of streams. */
  readonly bytes: ByteShares;
  /** Must be called once the response is complete or the client has left. Cancels in the latter case. */
  close(isComplete: boolean): Promise<void>;
}

export interface SeenExecution {
  readonly row: Execution;
  /** With its current rights. */
  readonly viewer: Caller;
}

/** @throws {CallFailure} for a refusal */
export async function callAgent(
  deps: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  api: OpenAiApi,
): Promise<AgentCall> {
  const hash = bearerHash(request);
  if (!hash) throw unauthorized();
  deps.onKeyUsed(hash);
  const left = abortOnDisconnect(reply);
  const raw = await readCallBody(request, keyLimit(deps, request, hash));
  const caller = await deps.reads.caller(hash);
  // An unknown key costs nothing but the bytes of its body.
  if (!caller) throw unauthorized();
  request.server.bodyBytes.assign(request, caller.workspaceId);
  const sent = await readSent(deps, { raw, caller, api, signal: left.signal });
  const waits = sent.kind === 'call' && (sent.call.isStream || !sent.call.isBackground);
  const { streams, waits: longPolls } = deps.shares;
  const shares = sent.kind === 'call' && sent.call.isStream ? streams : longPolls;
  // A call that nobody could wait for must not start.
  const release = waits ? shares.take(caller.workspaceId) : () => {};
  let free: FreeBytes = () => {};
  try {
    if (waits && sent.kind === 'call') free = keepRequest(deps, caller, sent.call);
    const admitted = await admit(deps, request, reply, { hash, caller, sent });
    request.server.bodyBytes.release(request);
    if (sent.kind !== 'call') throw unauthorized();
    const { agentId, executionId } = admitted;
    const settings = admitted.settings?.() ?? null;
    const call = withoutMessages(sent.whole());
    const { workspaceId } = caller;
    const keepsOn = call.isBackground || readIdempotency(request).idempotencyKey !== null;
    const reading = { request, agentId, executionId };
    // An earlier call was accepted for a key that may not read its execution any more.
    if (admitted.replayed) await readExecution(deps, reading).catch(unlessUnavailable(reading));
    return {
      ...{ call, caller, agentId, executionId, settings },
      read: () => readExecution(deps, reading).catch(unlessUnavailable(reading)),
      end: () => awaitEndOf(deps, reading, left.signal),
      check: () => readExecution(deps, reading),
      events: (signal) =>
        lastTurnOf(readExecutionStream(deps, { agentId, executionId, workspaceId }, null, signal)),
      bytes: deps.streams.bytes,
      async close(isComplete) {
        release();
        free();
        const leaves = !isComplete && left.signal.aborted && !keepsOn && !deps.waiters.closed;
        if (!leaves) return;
        await cancelAbandoned(() => deps.canceler.cancel(executionId), deps.waiters);
      },
    };
  } catch (error) {
    release();
    free();
    throw error;
  }
}

/** Responses repeat what a request says beside its messages, so that is kept until the end of the call. */
function withoutMessages(call: CallRequest): CallRequest {
  const { conversation } = call;
  return {
    ...call,
    conversation: { ...conversation, messages: suppliedMessages([]), schemaText: null },
  };
}

/** Beside its messages, which the execution has. */
function keepRequest(
  { callBytes }: ApiDeps,
  { workspaceId }: Caller,
  { conversation: { chars, messages } }: CallRequest,
): FreeBytes {
  return holdCallBytes(callBytes, workspaceId, 2 * Math.max(0, chars - messages.json.length));
}

async function admit(
  deps: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { hash, caller, sent }: { hash: string; caller: Caller; sent: Sent },
): Promise<Extract<Admitted, { kind: 'accepted' }>> {
  const isCall = sent.kind === 'call';
  const model = isCall ? sent.call.model : sent.model;
  const idOf = async (name: string | null) =>
    name === null ? null : findAgentId(deps.reads, caller, name);
  const agentId = await idOf(model);
  const promptAgent = isCall ? (sent.call.promptAgent ?? model) : model;
  const isOneAgent = promptAgent === model || (await idOf(promptAgent)) === agentId;
  const body: CallBody = isOneAgent ? sent.body : otherAgent;
  const admitted = await deps.admission
    .admit({
      credential: { kind: 'key', hash },
      agentId,
      body,
      ...readIdempotency(request),
      ipAddress: callerAddress(request),
      userAgent: request.headers['user-agent']?.slice(0, userAgentMax).toWellFormed() ?? null,
    })
    .finally(() => isCall && sent.free());
  allowOrigin(request, reply, admitted.allowedOrigins);
  reply.headers(rateHeaders(admitted.states, admitted.nowMs));
  if (admitted.kind === 'accepted') {
    if (admitted.replayed) reply.header('idempotent-replayed', 'true');
    return admitted;
  }
  // A body that names no agent is refused for what is wrong with it.
  if (admitted.code === 'NOT_FOUND' && model === null) throw failureOf(body);
  if (admitted.code === 'NOT_FOUND') throw modelNotFound();
  throw new CallFailure(admitted.code, admitted.message, { ...admitted.fields });
}

const otherAgent = invalidValue(
  'prompt.id',
  'must name the same agent as "model", or its prompt',
).body;

const userAgentMax = 500;

export function modelNotFound(): CallFailure {
  const message = `The model does not exist, or the key has no access to it. Here, "model" is an agent: its slug, an alias or its identifier. GET /v1/models lists those that this key can call.`;
  const fields = { parameter: 'model', parameterCode: 'model_not_found' };
  return new CallFailure('NOT_FOUND', message, fields);
}

function failureOf(body: CallBody): CallFailure {
  if (body.kind === 'invalid-parameter') {
    const { message, parameter, parameterCode } = body;
    return new CallFailure('INVALID_REQUEST', message, { parameter, parameterCode });
  }
  if (body.kind === 'conversation' || body.kind === 'variables' || body.kind === 'unparsed')
    throw new Error('The body is valid.');
  const { code, message } = bodyFailure(body);
  return new CallFailure(code, message);
}

interface Reading {
  readonly request: FastifyRequest;
  readonly agentId: string;
  readonly executionId: string;
}

async function readExecution(deps: ApiDeps, reading: Reading): Promise<SeenExecution> {
  return asSeen(deps, reading, await deps.reads.execution(reading));
}

/** The key may have been revoked since the call was accepted, or the agent hidden. */
async function asSeen(
  { authenticator }: ApiDeps,
  { request }: Reading,
  found: FoundExecution,
): Promise<SeenExecution> {
  const viewer = await authenticator.authenticate(request, getResponse);
  const row = readableExecution(viewer, found);
  if (!row) throw responseNotFound();
  return { row, viewer };
}

export function responseNotFound(): CallFailure {
  const message = 'The response does not exist, or the key has no access to it.';
  return new CallFailure('NOT_FOUND', message, { parameterCode: 'response_not_found' });
}

async function awaitEndOf(
  deps: ApiDeps,
  reading: Reading,
  left: AbortSignal,
): Promise<SeenExecution | null> {
  const read = async () => {
    const found = await deps.reads.execution(reading);
    return found.execution?.status === 'processing' ? null : asSeen(deps, reading, found);
  };
  const isTransient = (error: unknown) => asCallFailure(error)?.code === 'UNAVAILABLE';
  const end = await awaitEnd(deps.waiters, reading.executionId, left, read, isTransient);
  if (end || left.aborted) return end;
  throw callContinues(reading, 'The server shuts down, and the call continues.');
}

/** The call is accepted: nobody may try it again because its record cannot be read now. */
function unlessUnavailable(reading: Reading) {
  return (error: unknown): never => {
    if (asCallFailure(error)?.code !== 'UNAVAILABLE') throw error;
    throw callContinues(reading, 'The database is unavailable, and the call continues.');
  };
}

function callContinues({ executionId }: Reading, reason: string): CallFailure {
  const message = `${reason} Read it later with GET /v1/responses/${toId('execution', executionId)}.`;
  return new CallFailure('OUTCOME_UNKNOWN', message, { retryAfter: 1 });
}
