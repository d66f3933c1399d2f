import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** Receivers of events that misbehave in every way, behind one socket: the path chooses how. */

export const behaviours = [
  'ok',
  'flaky',
  'drip',
  'huge',
  'error',
  'gone',
  'busy',
  'moved',
  'silent',
] as const;
export type Behaviour = (typeof behaviours)[number];

/** These answer every event with 200 at last, so every event must be delivered to them. */
export const reliable: readonly Behaviour[] = ['ok', 'flaky', 'drip', 'huge'];

export interface Arrival {
  readonly behaviour: Behaviour;
  readonly id: string;
  readonly body: string;
  /** Whether the secret of its endpoint signed it. */
  readonly signed: boolean;
  /** The status that it was answered; null for none. */
  readonly status: number | null;
}

export interface EventReceivers {
  url(behaviour: Behaviour): string;
  /** The secret of the endpoint, which its requests must be signed with. */
  setSecret(behaviour: Behaviour, secret: string): void;
  readonly arrivals: readonly Arrival[];
  close(): Promise<void>;
}

const gigabyte = 1_073_741_824;
const chunk = Buffer.alloc(65_536, 'x');
/** A flaky receiver fails the first attempt of one event in so many. */
const flakyShare = 20;
/** One answer in so many comes byte by byte: each holds one of ten requests in flight for as long as the sender reads. */
const drippedShare = 4;

export async function startEventReceivers(): Promise<EventReceivers> {
  const arrivals: Arrival[] = [];
  const seen = new Set<string>();
  const verifiers = new Map<Behaviour, Webhook>();
  const isSigned = (behaviour: Behaviour, body: string, headers: http.IncomingHttpHeaders) => {
    try {
      verifiers.get(behaviour)?.verify(body, headers as Record<string, string>);
      return verifiers.has(behaviour);
    } catch {
      return false;
    }
  };
  const server = http.createServer(async (request, response) => {
    const behaviour = request.url?.slice(1) as Behaviour;
    const chunks: Buffer[] = [];
    try {
      for await (const one of request) chunks.push(one as Buffer);
    } catch {
      // A killed sender: the event has not arrived.
      return;
    }
    const id = String(request.headers['webhook-id']);
    const isFirst = !seen.has(`${behaviour} ${id}`);
    seen.add(`${behaviour} ${id}`);
    const status = statusOf(behaviour, isFirst && seen.size % flakyShare === 0);
    const body = Buffer.concat(chunks).toString();
    const signed = isSigned(behaviour, body, request.headers);
    arrivals.push({ behaviour, id, body, signed, status });
    if (status !== null) answer(response, { behaviour, status, nth: arrivals.length });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: (behaviour) => `http://127.0.0.1:${port}/${behaviour}`,
    setSecret: (behaviour, secret) => void verifiers.set(behaviour, new Webhook(secret)),
    arrivals,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function statusOf(behaviour: Behaviour, fails: boolean): number | null {
  switch (behaviour) {
    case 'silent':
      return null;
    case 'error':
      return 500;
    case 'gone':
      return 410;
    case 'busy':
      return 429;
    case 'moved':
      return 301;
    case 'flaky':
      return fails ? 500 : 200;
    default:
      return 200;
  }
}

function answer(
  response: ServerResponse,
  { behaviour, status, nth }: { behaviour: Behaviour; status: number; nth: number },
): void {
  response.on('error', () => {});
  const headers = {
    ...(behaviour === 'moved' && { location: '/ok' }),
    ...(behaviour === 'busy' && { 'retry-after': '60' }),
    ...(behaviour === 'huge' && { 'content-length': String(gigabyte) }),
  };
  response.writeHead(status, headers);
  if (behaviour === 'huge') fill(response, gigabyte);
  else if (behaviour === 'drip' && nth % drippedShare === 0) drip(response);
  else response.end('seen');
}

/** One byte after the other, longer than the sender reads. */
function drip(response: ServerResponse): void {
  response.write('x');
  const timer = setInterval(() => response.write('x'), 100);
  response.once('close', () => clearInterval(timer));
}

/** Writes as fast as the sender reads. */
function fill(response: ServerResponse, left: number): void {
  if (left <= 0) response.end();
  else if (response.write(chunk)) setImmediate(fill, response, left - chunk.length);
  else response.once('drain', () => fill(response, left - chunk.length));
}
