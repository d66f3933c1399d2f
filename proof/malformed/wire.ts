import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, Attack } from './attack.ts';

/** Sends an attack over a separate socket and reads the responses until the connection is closed. */

export interface Received {
  readonly answers: readonly Answer[];
  /** Received bytes that are not HTTP. */
  readonly rest: string;
  /** Whether the connection was closed in time. */
  readonly closed: boolean;
}

const closeWithinMs = 20_000;

/** Adds the socket to `open` while it is open. */
export async function send(port: number, attack: Attack, open: Set<Socket>): Promise<Received> {
  const methods = attack.requests.map(({ method }) => method);
  const whole = attack.requests.filter((one) => one.whole).length;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  open.add(socket);
  let received = '';
  let ended = false;
  const closed = Promise.withResolvers<boolean>();
  socket.on('error', () => {});
  socket.once('close', () => closed.resolve(true));
  socket.once('end', () => end());
  const end = () => {
    if (ended) return;
    ended = true;
    if (attack.afterwards === 'abort') socket.destroy();
    else if (attack.afterwards === 'reset') socket.resetAndDestroy();
    else socket.end();
  };
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    // Ends its side after the last expected response, so that further bytes are a surplus response.
    if (attack.afterwards === 'read' && parse(received, methods).answers.length >= whole) end();
  });
  const timer = setTimeout(() => closed.resolve(false), closeWithinMs);
  for (const [index, piece] of attack.requests.flatMap(({ pieces }) => pieces).entries()) {
    if (index > 0 && attack.pauseMs > 0) await delay(attack.pauseMs);
    if (socket.destroyed || !socket.writable) break;
    socket.write(piece);
  }
  if (attack.afterwards !== 'read' || whole === 0) end();
  const inTime = await closed.promise;
  clearTimeout(timer);
  socket.destroy();
  open.delete(socket);
  return { ...parse(received, methods), closed: inTime };
}

/** Parses strictly: a lenient client could see other responses. */
function parse(text: string, methods: readonly string[]): Omit<Received, 'closed'> {
  const answers: Answer[] = [];
  let at = 0;
  for (;;) {
    const headEnd = text.indexOf('\r\n\r\n', at);
    if (headEnd < 0) break;
    const [line = '', ...fields] = text.slice(at, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) [\x20-\x7e]+$/.exec(line)?.[1] ?? 0);
    const headers = new Map<string, string>();
    for (const field of fields) {
      const [, name = '', value = ''] = /^([!-9;-~]+): ([^\r\n]*)$/.exec(field) ?? [];
      headers.set(name.toLowerCase(), value);
    }
    if (status === 0 || headers.has('')) break;
    const from = headEnd + 4;
    if (status < 200) {
      at = from;
      continue;
    }
    const announced = Number(headers.get('content-length') ?? Number.NaN);
    // An unparsable request is not known as HEAD: its response has a body, and the connection closes.
    const unread = [400, 431].includes(status) && from + announced === text.length;
    const head = methods[answers.length] === 'HEAD' && !unread;
    const none = head || status === 204 || status === 304;
    const chunked = !none && headers.get('transfer-encoding') === 'chunked';
    const read = chunked ? readChunks(text, from) : readLength(text, from, none ? 0 : announced);
    if (!read) break;
    answers.push({ status, headers, body: Buffer.from(read.body, 'latin1').toString('utf8') });
    at = read.end;
  }
  return { answers, rest: text.slice(at) };
}

interface Read {
  readonly body: string;
  readonly end: number;
}

/** Null if it is incomplete. */
function readLength(text: string, from: number, length: number): Read | null {
  const end = from + length;
  return end <= text.length ? { body: text.slice(from, end), end } : null;
}

/** Null until the last chunk has arrived. */
function readChunks(text: string, from: number): Read | null {
  let body = '';
  let at = from;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = /^[0-9a-f]{1,8}$/i.exec(text.slice(at, lineEnd))?.[0];
    if (lineEnd < 0 || size === undefined) return null;
    const chunk = readLength(text, lineEnd + 2, Number.parseInt(size, 16));
    if (!chunk || text.slice(chunk.end, chunk.end + 2) !== '\r\n') return null;
    at = chunk.end + 2;
    if (chunk.body === '') return { body, end: at };
    body += chunk.body;
  }
}
