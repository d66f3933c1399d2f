import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends very many small pipelined requests over a few sockets and counts their statuses. */
export interface FloodOptions {
  /** `http://127.0.0.1:port` of each process, called round-robin. */
  readonly urls: readonly string[];
  readonly calls: number;
  /** One complete request as bytes on the wire. */
  readonly request: (index: number) => string;
}

const socketsPerUrl = 4;
/** Pipelined requests per socket, below the limit at which a process sheds load. */
const aheadMax = 100;

/** Resolves once all are answered, with the number of responses by status. */
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
      open === 0 ? ended.resolve() : ended.reject(new Error(`${open} calls without a response`)),
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

/** An execute request with this key. */
export function executeRequest(path: string, key: string, body: string): string {
  return `POST ${path}/execute HTTP/1.1\r\nhost: cueline\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** The first complete response in the text. */
function take(text: string): { status: number; length: number } | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = text.slice(0, end);
  const length = end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return text.length < length ? null : { status: Number(head.slice(9, 12)), length };
}
