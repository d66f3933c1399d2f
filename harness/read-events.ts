import { userHeader } from './call.ts';

/** An event of a stream as it arrived. */
export interface ReceivedEvent {
  readonly event: string;
  readonly id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly data: any;
}

export interface OpenEvents extends AsyncIterable<ReceivedEvent> {
  readonly status: number;
  readonly headers: Headers;
  /** Comments so far. */
  readonly comments: readonly string[];
  /** The events until one for which this holds, or until the end. */
  until(isLast: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent[]>;
  close(): void;
}

/** Opens a stream of server-sent events on a connection of its own. */
export async function openEvents(
  url: string,
  options: {
    readonly key?: string;
    readonly user?: string;
    readonly method?: string;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<OpenEvents> {
  const { key, user, method = 'GET', body } = options;
  const closing = new AbortController();
  const response = await fetch(url, {
    method,
    headers: {
      accept: 'text/event-stream',
      connection: 'close',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(user !== undefined && {
        [userHeader]: user,
        origin: new URL(url).origin,
        cookie: 'a=session',
      }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: closing.signal,
  });
  const comments: string[] = [];
  const events = parse(response, comments);
  return {
    ...{ status: response.status, headers: response.headers, comments },
    [Symbol.asyncIterator]: () => events,
    async until(isLast) {
      const received: ReceivedEvent[] = [];
      for (;;) {
        const { value, done } = await events.next();
        if (done) return received;
        received.push(value);
        if (isLast(value)) return received;
      }
    },
    close: () => closing.abort(),
  };
}

/** All events of a stream. */
export async function readEvents(...args: Parameters<typeof openEvents>): Promise<ReceivedEvent[]> {
  return (await openEvents(...args)).until(() => false);
}

/** The text that a reader of these events has at their end. */
export function textOfEvents(events: readonly ReceivedEvent[], before = ''): string {
  let text = before;
  for (const { event, data } of events) {
    if (event === 'restart') text = '';
    if (event !== 'text') continue;
    if (data.offset !== text.length) throw new Error(`gap at ${text.length}: ${data.offset}`);
    text += data.text;
  }
  return text;
}

async function* parse(
  { body }: Response,
  comments: string[],
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body ?? []) {
    rest += decoder.decode(bytes, { stream: true });
    const found = rest.split('\n\n');
    rest = found.pop() ?? '';
    for (const text of found) {
      const lines = text.split('\n');
      const fields = new Map(
        lines.map((line) => {
          const at = line.indexOf(':');
          return [line.slice(0, at), line.slice(at + 1).trimStart()];
        }),
      );
      const data = fields.get('data');
      if (data === undefined) comments.push(text);
      else {
        const named = { event: fields.get('event') ?? 'message', id: fields.get('id') ?? null };
        yield { ...named, data: data === '[DONE]' ? data : JSON.parse(data) };
      }
    }
  }
}
