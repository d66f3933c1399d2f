import type { FastifyReply, FastifyRequest } from 'fastify';
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

/** Streams a call and closes it once the client has everything or has left. */
export function sendCallStream(
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
  const onClose = () => {
    agentCall
      .close(isComplete)
      .catch((error: unknown) => request.log.warn({ err: error }, 'cancel failed'));
  };
  const { check, bytes } = agentCall;
  const body = new EventStream(events, request, { stopping, check, bytes, onClose });
  send(reply, { status: 200, body, headers: eventStreamHeaders });
}
