import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Very many small calls over a few sockets, sent without waiting for the answers before: only their statuses are
 * counted.
 */
export interface FloodOptions {
  /** `http://127.0.0.1:port` of each process that is called, in turn. */
  readonly urls: readonly string[];
  readonly calls: number;
  /** The whole of one request, as it goes over the wire. */
  readonly request: (index: number) => string;
}

const socketsPerUrl = 4;
/** Sent ahead on one socket: fewer than a process sheds at. */
const aheadMax = 100;

/** Resolves once all are answered: how often each status came. */
export async function flood(options: FloodOptions): Promise<ReadonlyMap<number, number>> {
  const statuses = new Map<number, number>();
  let next = 0;

  async function socket(url: string): Promise<void> {
    const { hostname, port } = new URL(url);
    const stream = connect(Number(port), hostname);
    const ended = Promise.withResolvers<void>();
    let open = 0;
    let rest = '';
    const send = () => {
      let text = '';
      for (; open < aheadMax && next < options.calls; open++) text += options.request(next++);
      if (text !== '') stream.write(text);
      else if (open === 0) stream.end();
    };
    stream.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      for (let answer = take(rest); answer; answer = take(rest)) {
        rest = rest.slice(answer.length);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        open--;
      }
      send();
    });
    stream.on('error', ended.reject);
    stream.on('close', () =>
      open === 0 ? ended.resolve() : ended.reject(new Error(`${open} calls without an answer`)),
    );
    await Promise.race([once(stream, 'connect'), ended.promise]);
    send();
    await ended.promise;
  }

  await Promise.all(
    options.urls.flatMap((url) => Array.from({ length: socketsPerUrl }, () => socket(url))),
  );
  return statuses;
}

/** The text of an execute call with this key. */
export function executeRequest(path: string, key: string, body: string): string {
  return `POST ${path}/execute HTTP/1.1\r\nhost: cueline\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** The first whole answer in the text. */
function take(text: string): { status: number; length: number } | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = text.slice(0, end);
  const length = end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return text.length < length ? null : { status: Number(head.slice(9, 12)), length };
}
