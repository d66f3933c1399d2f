import type { FastifyInstance } from 'fastify';
import { createChatCompletion } from '../../../contract/openai/openai.ts';
import { toId } from '../../../core/id.ts';
import type { ExecutionDetailRow } from '../../../store/execution/executions.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { executionErrorResponse } from '../../http/response/openai-error.ts';
import { type HandlerResponse, routePath, send } from '../../http/route.ts';
import { type AgentCall, callAgent } from './call-agent.ts';
import { completionWire } from './chat-wire.ts';
import { readChatCall } from './read-chat.ts';
import { errorText } from './response-wire.ts';
import { sendCallStream } from './stream-call.ts';
import { chatEvents } from './stream-chat.ts';

/** The Chat Completions API. */
export function chatRoutes(app: FastifyInstance, deps: ApiDeps): void {
  app.post(routePath(createChatCompletion), async (request, reply) => {
    const agentCall = await callAgent(deps, request, reply, readChatCall);
    if (agentCall.call.isStream) {
      sendCallStream(request, reply, agentCall, (signal, onEnd) =>
        chatEvents(agentCall, signal, onEnd),
      );
      return reply;
    }
    let row: ExecutionDetailRow | null = null;
    try {
      row = await agentCall.end();
    } finally {
      await agentCall.close(row !== null);
    }
    if (row) send(reply, chatResponse(row, agentCall));
    return reply;
  });
}

function chatResponse(row: ExecutionDetailRow, { call, caller }: AgentCall): HandlerResponse {
  if (row.status === 'success') return { status: 200, body: completionWire(row, call.model) };
  const failure = { errorCode: row.errorCode ?? 'INTERNAL', message: errorText(row, caller) };
  return executionErrorResponse(failure, toId('execution', row.id));
}
