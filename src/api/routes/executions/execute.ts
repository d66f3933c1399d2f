import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { executeAgent, executeAgentInDashboard } from '../../../contract/executions/executions.ts';
import type { ExecuteCall } from '../../../core/execution/decide.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { Admitted } from '../../../flow/admission/admit.ts';
import { bearerHash, unauthorized } from '../../access/authenticate.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { callerAddress } from '../../http/caller-address.ts';
import { allowOrigin } from '../../http/cors.ts';
import { errorResponse } from '../../http/error-response.ts';
import { rateHeaders } from '../../http/rate-headers.ts';
import { routePath, send } from '../../http/route.ts';
import { idempotency, readDashboardCall, readExecuteBody } from './execute-call.ts';

/** Execute, with a key and from the dashboard. Everything but the key's form and the session is decided in admission. */
export function executeRoutes(app: FastifyInstance, parts: ApiDeps): void {
  app.post<{ Params: { agentId: string } }>(routePath(executeAgent), async (request, reply) => {
    const hash = bearerHash(request);
    if (!hash) throw unauthorized();
    parts.onKeyUsed(hash);
    const body = await readExecuteBody(request, 'variables');
    await answer(parts, request, reply, { credential: { kind: 'key', hash }, body });
    return reply;
  });
  app.post<{ Params: { agentId: string } }>(
    routePath(executeAgentInDashboard),
    async (request, reply) => {
      const call = await readDashboardCall(parts, request, executeAgentInDashboard, 'variables');
      await answer(parts, request, reply, call);
      return reply;
    },
  );
}

async function answer(
  parts: ApiDeps,
  request: FastifyRequest<{ Params: { agentId: string } }>,
  reply: FastifyReply,
  from: Pick<ExecuteCall, 'credential' | 'body'>,
): Promise<void> {
  const call: ExecuteCall = {
    ...from,
    agentId: fromId('agent', request.params.agentId),
    ...idempotency(request),
    ipAddress: callerAddress(request),
    userAgent: request.headers['user-agent']?.slice(0, userAgentMax).toWellFormed() ?? null,
  };
  const admitted = await parts.admission.admit(call);
  allowOrigin(request, reply, admitted.allowedOrigins);
  reply.headers(rateHeaders(admitted.states, admitted.nowMs));
  if (admitted.kind === 'refused') send(reply, errorResponse(admitted, request.id));
  else send(reply, accepted(admitted, request.params.agentId));
}

const userAgentMax = 500;

/** A known agent's id has one form only: the one that it was called by. */
function accepted(admitted: Extract<Admitted, { kind: 'accepted' }>, agentId: string) {
  const executionId = toId('execution', admitted.executionId);
  const statusUrl = `/api/v1/agents/${agentId}/executions/${executionId}`;
  return {
    status: 202,
    body: {
      success: true,
      executionId,
      agentId,
      agentName: admitted.agentName,
      status: 'processing',
      message: 'Accepted. Poll statusUrl for the outcome.',
      statusUrl,
      ...(admitted.ignoredVariables.length > 0 && { ignoredVariables: admitted.ignoredVariables }),
    },
    headers: { location: statusUrl, ...(admitted.replayed && { 'idempotent-replayed': 'true' }) },
  };
}
