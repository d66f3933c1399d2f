import { OutboundFailure } from '../../net/outbound-failure.ts';
import { UnreadableResponse } from '../failure/unreadable-response.ts';
import type { RequestForm } from '../port/adjustment.ts';
import type { Live } from '../port/model.ts';
import { type Fields, fieldsOf, isLast, joinParsed } from './join-events.ts';
import { deltasOf, hasBegun, usageIn } from './stream-deltas.ts';
import { awsEvents, jsonLines, type StreamFrames, serverSentEvents } from './stream-frames.ts';

/**
 * Streams, below a `fetch` for whole responses: the request asks for a stream, its events are passed on as they arrive,
 * and joined they are the response that the same API sends unstreamed. So everything that reads and repairs whole
 * responses applies, and what an event may look like is decided here, not by a schema that drops what it does not know.
 *
 * A stream is complete once an event says so. Whatever ends it before, the answer is cut: the attempt fails, and its
 * cost is unknown. What breaks after that loses the usage at most.
 */
export function streamRequests(
  fetch: typeof globalThis.fetch,
  live: Live,
  form: RequestForm,
): typeof globalThis.fetch {
  return async (input, init = {}) => {
    if (typeof init.body !== 'string' || form.has('unstreamed')) return fetch(input, init);
    const request = streamRequest(new URL(String(input)), JSON.parse(init.body), form);
    const response = await fetch(request.url, { ...init, body: JSON.stringify(request.body) });
    if (!response.ok || !response.body) return response;
    return readStream(response, request.framing, live);
  };
}

type Framing = 'events' | 'lines';

function streamRequest(
  url: URL,
  body: Fields,
  form: RequestForm,
): { readonly url: string; readonly body: Fields; readonly framing: Framing } {
  const { pathname } = url;
  const framing: Framing = pathname.endsWith('/api/chat') ? 'lines' : 'events';
  if (pathname.endsWith(':generateContent')) {
    url.pathname = pathname.replace(/:generateContent$/, ':streamGenerateContent');
    url.searchParams.set('alt', 'sse');
    return { url: url.href, body, framing };
  }
  if (pathname.endsWith('/converse')) {
    url.pathname = `${pathname}-stream`;
    return { url: url.href, body, framing };
  }
  const counts = pathname.endsWith('/chat/completions') && !form.has('streamOptions');
  const usage = counts && { stream_options: { include_usage: true } };
  return { url: url.href, body: { ...body, stream: true, ...usage }, framing };
}

async function readStream(response: Response, framing: Framing, live: Live): Promise<Response> {
  const { status } = response;
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  const frames = framesOf(headers, framing);
  const { events, isCut } = await readEvents(response, frames, live);
  const error = events.map(errorIn).find((each) => each);
  const { whole } = frames;
  if (whole !== null && !error && (events.length < 2 || !isCut)) {
    return new Response(whole, { status, headers });
  }
  if (isCut && !error) throw new OutboundFailure('broken', cutMessage);
  headers.set('content-type', 'application/json');
  const joined = error ? brokenAnswer(events, error) : fieldsOf(joinParsed(events));
  // A model that has begun to answer has worked: with a usage, the cost of an error is unknown.
  const isBroken = joined.error && !joined.usage && events.some(hasBegun);
  const answer = isBroken ? { ...joined, usage: {} } : joined;
  return new Response(JSON.stringify(answer), { status, headers });
}

const cutMessage = 'The provider ended its stream before the answer was complete.';

function framesOf(headers: Headers, framing: Framing): StreamFrames {
  const type = headers.get('content-type') ?? '';
  if (type.startsWith('application/vnd.amazon.eventstream')) return awsEvents();
  return framing === 'lines' ? jsonLines() : serverSentEvents();
}

async function readEvents({ body }: Response, frames: StreamFrames, live: Live) {
  const events: Fields[] = [];
  let isComplete = false;
  const isCut = () => !isComplete && !frames.done;
  const receive = (values: unknown[]) => {
    for (const value of values) {
      // An event that cannot be read is not passed over: what remains would pass for the whole answer.
      if (typeof value !== 'object' || value === null) throw new UnreadableResponse(null, value);
      const event = value as Fields;
      events.push(event);
      isComplete ||= isLast(event) || event.done === true;
      const usage = usageIn(event);
      if (usage) live.usage(usage);
      for (const { kind, text } of deltasOf(event)) live[kind](text);
    }
  };
  try {
    for await (const bytes of body ?? []) {
      receive(frames.push(bytes));
      // Some servers leave the body open.
      if (frames.done) break;
    }
    receive(frames.end());
  } catch (error) {
    // Whatever follows the end of the answer is not needed.
    if (isCut()) throw error;
  }
  return { events, isCut: isCut() };
}

/** An answer of the same API that consists of an error. */
function brokenAnswer([first]: readonly Fields[], error: unknown): Fields {
  const isResponse = String(first?.type).startsWith('response.');
  return { ...(isResponse && { object: 'response' }), error };
}

/** The error that an event reports: in a field, or as an event of the Responses API. */
function errorIn({ error, type, code, message }: Fields): unknown {
  return error ?? (type === 'error' ? { code, message } : null);
}
