import type { FastifyInstance } from 'fastify';
import { toId } from '../../core/id.ts';
import type { ApiDeps } from '../../features/api-deps.ts';
import { executionErrorResponse } from '../../http/response/openai-error.ts';
import { type HandlerResponse, routePath, send } from '../../http/route.ts';
import { callAgent, type SeenExecution } from './call-agent.ts';
import { completionWire } from './chat-wire.ts';
import { createChatCompletion } from './openai.ts';
import { errorText } from './response-wire.ts';
import { sendCallStream } from './stream-call.ts';
import { chatEvents } from './stream-chat.ts';

/** The Chat Completions API. */
export function chatRoutes(app: FastifyInstance, deps: ApiDeps): void {
  app.post(routePath(createChatCompletion), async (request, reply) => {
    const agentCall = await callAgent(deps, request, reply, 'chat');
    if (agentCall.call.isStream) {
      sendCallStream(request, reply, agentCall, (signal, onEnd) =>
        chatEvents(agentCall, signal, onEnd),
      );
      return reply;
    }
    let end: SeenExecution | null = null;
    try {
      end = await agentCall.end();
    } finally {
      await agentCall.close(end !== null);
    }
    if (end) send(reply, chatResponse(end, agentCall.call.model));
    return reply;
  });
}

function chatResponse({ row, viewer }: SeenExecution, model: string): HandlerResponse {
  if (row.status === 'success') return { status: 200, body: completionWire(row, model, viewer) };
  const failure = { errorCode: row.errorCode ?? 'INTERNAL', message: errorText(row, viewer) };
  return executionErrorResponse(failure, toId('execution', row.id));
}
