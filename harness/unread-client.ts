import { connect, type Socket } from 'node:net';

/** A client that sends a request and does not read its response until it is asked to. */
export interface UnreadClient {
  /** The whole response as it arrived, with its headers. */
  readAll(): Promise<string>;
  close(): void;
}

export interface UnreadRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export async function sendUnread(
  url: string,
  { method = 'GET', path, headers = {}, body }: UnreadRequest,
): Promise<UnreadClient> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  const text = body === undefined ? '' : JSON.stringify(body);
  const all = {
    host: `${hostname}:${port}`,
    connection: 'close',
    ...(text !== '' && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  await new Promise<void>((resolve) => {
    socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`, () => resolve());
  });
  return { readAll: () => readAll(socket), close: () => void socket.destroy() };
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The value of a metric of a server. */
export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text);
  if (!found) throw new Error(`The server has no metric ${name}.`);
  return Number(found[1]);
}
