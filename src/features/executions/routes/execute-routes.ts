import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type ExecuteBody,
  type UnparsedBody,
  unknownRerun,
} from '../../../core/agent/variables.ts';
import type { ExecuteCall } from '../../../core/execution/decide.ts';
import { deniedMessage } from '../../../core/execution/refusal-messages.ts';
import { CallFailure } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { Admitted } from '../../../engine/admit/admit.ts';
import { allowOrigin } from '../../../http/cors.ts';
import { rateHeaders } from '../../../http/limits/rate-headers.ts';
import { callerAddress } from '../../../http/request/caller-address.ts';
import { bearerHash, unauthorized } from '../../../http/request/credential.ts';
import { errorResponse } from '../../../http/response/error-response.ts';
import { asksForStream } from '../../../http/response/event-stream.ts';
import { routePath, send } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { findAgentId, readableExecution } from '../../people/access/visible-resources.ts';
import { createDraft } from '../../prompts/verbs/create-draft.ts';
import {
  executeAgent,
  executeAgentInDashboard,
  streamExecution,
} from '../contract/executions-contract.ts';
import {
  readDashboardCall,
  readExecuteBody,
  readIdempotency,
  userAgentOf,
} from './execute-call.ts';
import { type OpenStream, openStream, streamResponse } from './stream.ts';

/** Executes an agent, with a key or from the dashboard. Admission decides everything but the key's format and the session. */
export function executeRoutes(app: FastifyInstance, deps: ApiDeps): void {
  app.post<{ Params: { agentId: string } }>(routePath(executeAgent), async (request, reply) => {
    const hash = bearerHash(request);
    if (!hash) throw unauthorized();
    deps.onKeyUsed(hash);
    const body = await readExecuteBody(deps, request, hash, 'variables');
    await execute(deps, request, reply, { credential: { kind: 'key', hash }, body });
    return reply;
  });
  app.post<{ Params: { agentId: string } }>(
    routePath(executeAgentInDashboard),
    async (request, reply) => {
      const call = await readDashboardCall(deps, request, executeAgentInDashboard, 'variables');
      await execute(deps, request, reply, call);
      return reply;
    },
  );
}

async function execute(
  deps: ApiDeps,
  request: FastifyRequest<{ Params: { agentId: string } }>,
  reply: FastifyReply,
  input: Pick<ExecuteCall, 'credential'> & SentBody,
): Promise<void> {
  const agentId = await agentIdOf(deps, input.credential, request.params.agentId);
  const call: ExecuteCall = {
    ...input,
    body: completeBody(deps, { ...input, agentId }, asksForStream(request)),
    agentId,
    ...readIdempotency(request),
    ipAddress: callerAddress(request),
    userAgent: userAgentOf(request),
  };
  const admitted = await deps.admission.admit(call);
  request.server.bodyBytes.release(request);
  allowOrigin(request, reply, admitted.allowedOrigins);
  reply.headers(rateHeaders(admitted.states, admitted.nowMs));
  if (admitted.kind === 'refused') return send(reply, errorResponse(admitted, request.id));
  const accepted = acceptedResponse(admitted, request.server.basePath);
  const stream = asksForStream(request) ? await openAcceptedStream(deps, request, admitted) : null;
  if (!stream) return send(reply, accepted);
  const { headers, body } = accepted;
  send(reply, streamResponse(stream, { event: 'accepted', data: body }, headers));
}

/** By an identifier, a call reads nothing before its admission, which finds out who calls. */
async function agentIdOf(
  { reads }: ApiDeps,
  credential: Credential,
  name: string,
): Promise<string | null> {
  const agentId = fromId('agent', name);
  if (agentId !== null) return agentId;
  const caller =
    credential.kind === 'key' ? await reads.caller(credential.hash) : credential.caller;
  return caller && findAgentId(reads, caller, name);
}

type Credential = ExecuteCall['credential'];

interface SentBody {
  readonly body: ExecuteBody | UnparsedBody;
}

/** What a body names is looked up once its caller is known. */
function completeBody(
  deps: ApiDeps,
  { credential, agentId, body }: Pick<ExecuteCall, 'credential' | 'agentId'> & SentBody,
  isFollowed: boolean,
): ExecuteBody | UnparsedBody {
  const complete = async (parsed: ExecuteBody) => {
    const known = await withKnownRerun(deps, agentId, withStream(parsed, isFollowed));
    return withStoredDraft(deps, credential, agentId, known);
  };
  if (body.kind === 'unparsed') {
    return { ...body, parse: async (workspaceId) => complete(await body.parse(workspaceId)) };
  }
  const isComplete = body.kind !== 'variables' || (body.rerunOf === undefined && !body.draft);
  if (isComplete) return withStream(body, isFollowed);
  const chars = body.variables.json.length;
  const parse = () => complete(body);
  // A draft is stored only for a call that is not refused before.
  return { kind: 'unparsed', chars, parse, ...(body.draft && { readsRecords: true }) };
}

/** Who follows the execution wants to see its text as it arrives, unless the body says otherwise. */
function withStream(body: ExecuteBody, isFollowed: boolean): ExecuteBody {
  return isFollowed && body.kind === 'variables' ? { stream: true, ...body } : body;
}

/** A call may run again only an execution of its own agent. Admission reports any other, after the checks that precede it. */
async function withKnownRerun(
  { reads }: ApiDeps,
  agentId: string | null,
  body: ExecuteBody,
): Promise<ExecuteBody> {
  if (agentId === null || body.kind !== 'variables' || body.rerunOf === undefined) return body;
  const { execution } = await reads.execution({ agentId, executionId: body.rerunOf });
  return execution ? body : { kind: 'invalid', message: unknownRerun, variable: null };
}

/** Whoever sends a draft must be able to save it. */
async function withStoredDraft(
  deps: ApiDeps,
  credential: Credential,
  agentId: string | null,
  body: ExecuteBody,
): Promise<ExecuteBody> {
  if (agentId === null || body.kind !== 'variables' || !body.draft) return body;
  const caller =
    credential.kind === 'key' ? await deps.reads.caller(credential.hash) : credential.caller;
  // Admission refuses a caller that is unknown by now.
  if (!caller) return body;
  if (!caller.rights.includes('manage')) {
    return { kind: 'denied', message: deniedMessage(caller, 'manage') };
  }
  try {
    const { fields } = body.draft;
    const versionId = await createDraft(deps, caller, agentId, fields);
    return { ...body, draft: { fields, versionId } };
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    const { code, message } = error;
    if (code === 'UNAVAILABLE') throw error;
    if (code === 'PERMISSION_DENIED') return { kind: 'denied', message };
    return { kind: 'invalid', message, variable: null };
  }
}

/** Null if nothing can be followed now (too many readers, no database): the call is accepted, so it gets the plain response. */
async function openAcceptedStream(
  deps: ApiDeps,
  request: FastifyRequest,
  { agentId, executionId, replayed }: Extract<Admitted, { kind: 'accepted' }>,
): Promise<OpenStream | null> {
  const caller = await deps.authenticator.authenticate(request, streamExecution).catch(() => null);
  if (!caller) return null;
  const key = { agentId, executionId };
  // An earlier call was accepted for a key that may not read its execution any more.
  if (replayed) {
    const found = await deps.reads.execution(key).catch(() => null);
    if (!found || !readableExecution(caller, found)) return null;
  }
  const release = deps.shares.streams.tryTake(caller.workspaceId);
  return release && openStream(deps, request, { caller, key, after: null, release });
}

function acceptedResponse(admitted: Extract<Admitted, { kind: 'accepted' }>, basePath: string) {
  const agentId = toId('agent', admitted.agentId);
  const executionId = toId('execution', admitted.executionId);
  const location = `/api/v1/agents/${agentId}/executions/${executionId}`;
  const statusUrl = basePath + location;
  return {
    status: 202,
    body: {
      success: true,
      executionId,
      agentId,
      agentName: admitted.agentName,
      status: 'processing',
      ...(admitted.replayed && { currentStatus: admitted.currentStatus }),
      message: 'Accepted. Poll statusUrl for the result.',
      statusUrl,
      ...(admitted.ignoredVariables.length > 0 && { ignoredVariables: admitted.ignoredVariables }),
    },
    headers: { location, ...(admitted.replayed && { 'idempotent-replayed': 'true' }) },
  };
}
