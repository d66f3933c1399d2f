import type { FastifyReply, FastifyRequest } from 'fastify';
import { getResponse } from '../../../contract/openai/openai.ts';
import type { ApiDeps } from '../../api-deps.ts';
import {
  EventStream,
  eventStreamHeaders,
  type SentEvent,
} from '../../http/response/event-stream.ts';
import { send } from '../../http/route.ts';
import type { AgentCall } from './call-agent.ts';

/** What a stream knows of its call. */
export type EventsOf = (
  signal: AbortSignal,
  onEnd: () => void,
) => AsyncGenerator<SentEvent, void, undefined>;

/** Streams a call and closes it once the client has everything or has left. The key may be revoked meanwhile. */
export function sendCallStream(
  { authenticator }: Pick<ApiDeps, 'authenticator'>,
  request: FastifyRequest,
  reply: FastifyReply,
  agentCall: AgentCall,
  eventsOf: EventsOf,
): void {
  const stopping = new AbortController();
  let isComplete = false;
  const events = eventsOf(stopping.signal, () => {
    isComplete = true;
  });
  const check = () => authenticator.authenticate(request, getResponse);
  const onClose = () => {
    agentCall
      .close(isComplete)
      .catch((error: unknown) => request.log.warn({ err: error }, 'cancel failed'));
  };
  const body = new EventStream(events, request, { stopping, check, onClose });
  send(reply, { status: 200, body, headers: eventStreamHeaders });
}
