import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Job, Load } from './job.ts';

/**
 * The load generator. It shares the machine with the contenders, so it is as cheap as possible: raw keep-alive
 * connections with one request in flight and constant bytes. It parses only the status and length of a response.
 */

process.on('message', async (job: Job) => {
  try {
    process.send?.({ load: await run(job) });
  } catch (error) {
    process.send?.({ error: (error as Error).message });
  }
});

/** A longer response arrives in several reads. */
const readBytesMax = 16 * 1024;

/** Time for the server to accept all connections, before the measurement. */
const acceptMs = 250;

async function run({ target, connections, requests, seconds }: Job): Promise<Load> {
  const { body, bodies = [body] } = target;
  const prepared = bodies.map((one) => bytesOf({ ...target, body: one }));
  let sent = 0;
  const statuses: Record<number, number> = {};
  const latencies: number[] = [];
  let until = Number.POSITIVE_INFINITY;
  let toSend = requests ?? Number.POSITIVE_INFINITY;
  let lastAnswer = 0;
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  let connected = 0;

  const ports = [target.port, ...(target.morePorts ?? [])];

  const one = (_: unknown, number: number) =>
    new Promise<void>((resolve, reject) => {
      let head = '';
      let sentAt = 0;
      let missing = 0;
      const socket = connect({
        host: target.host,
        port: ports[number % ports.length] ?? target.port,
        noDelay: true,
        onread: {
          buffer: Buffer.allocUnsafe(readBytesMax),
          callback(length, buffer) {
            read(buffer as Buffer, length);
            return true;
          },
        },
      });
      socket.once('connect', () => {
        connected++;
        started.then(send);
      });
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the server closed a connection')));

      function send(): void {
        if (toSend <= 0 || performance.now() >= until) {
          resolve();
          return void socket.destroy();
        }
        toSend--;
        sentAt = performance.now();
        socket.write(prepared[sent++ % prepared.length] ?? '');
      }

      function read(buffer: Buffer, length: number): void {
        if (missing > 0) missing -= length;
        else {
          head += buffer.toString('latin1', 0, length);
          const end = head.indexOf('\r\n\r\n');
          if (end === -1) return;
          missing = end + 4 + contentLength(head, end) - head.length;
        }
        if (missing > 0) return;
        const status = Number(head.slice(9, 12));
        statuses[status] = (statuses[status] ?? 0) + 1;
        lastAnswer = performance.now();
        latencies.push(lastAnswer - sentAt);
        head = '';
        send();
      }
    });

  const ended = Promise.all(Array.from({ length: connections }, one));
  while (connected < connections) await Promise.race([delay(1), ended]);
  await delay(acceptMs);
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  if (seconds !== undefined) until = startedMs + seconds * 1_000;
  start();
  await ended;
  const { user, system } = process.cpuUsage(cpu);
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return {
    answered: latencies.length,
    seconds: (lastAnswer - startedMs) / 1_000,
    statuses,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMicros: user + system,
  };
}

function bytesOf({ host, port, method = 'POST', path, headers, body }: Job['target']): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}:${port}`,
    ...(body === ''
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Servers capitalize the header name in one of two ways. */
function contentLength(head: string, end: number): number {
  let at = head.indexOf('\r\ncontent-length: ');
  if (at === -1) at = head.indexOf('\r\nContent-Length: ');
  if (at === -1 || at > end)
    throw new Error(`a response without Content-Length: ${head.slice(0, end)}`);
  return Number.parseInt(head.slice(at + 18, at + 28), 10);
}
