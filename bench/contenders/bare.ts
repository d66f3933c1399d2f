import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import type { BenchEnvironment } from '../environment.ts';
import type { Target } from '../load/job.ts';
import { serversDir, startServer } from '../server.ts';
import type { Contender } from './contender.ts';
import { openCueline } from './cueline.ts';

/**
 * The ceiling: a server that reads the same request and sends the same bytes as Cueline, and does nothing else. By
 * default an execute call and its 202.
 */
export function bare(
  name: string,
  script: 'bare-node.ts' | 'bare-fastify.ts',
  exchange: (environment: BenchEnvironment) => Promise<Exchange> = accepted,
): Contender {
  return {
    name,
    durability: 'none: nothing is kept',
    async open(environment) {
      const { target, answer } = await exchange(environment);
      const server = await startServer({
        command: [join(serversDir, script)],
        env: { ANSWER: JSON.stringify(answer) },
        logFile: join(environment.directory, 'bare.log'),
      });
      return {
        target: { ...target, port: Number(server.url.port) },
        servers: [server.pid],
        store: null,
        reset: async () => {},
        finished: async () => 0,
        close: server.stop,
      };
    },
  };
}

export const ceiling = bare('bare node:http', 'bare-node.ts');
export const fastifyCeiling = bare('bare Fastify', 'bare-fastify.ts');

/** A request, and Cueline's response to it. */
export interface Exchange {
  readonly target: Target;
  readonly answer: Answer;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const known = new WeakMap<BenchEnvironment, Promise<Exchange>>();

function accepted(environment: BenchEnvironment): Promise<Exchange> {
  const found = known.get(environment) ?? acceptedBy(environment);
  known.set(environment, found);
  return found;
}

async function acceptedBy(environment: BenchEnvironment): Promise<Exchange> {
  const opened = await openCueline(environment, { name: 'to be copied', roles: ['api'] });
  const exchange = { target: opened.target, answer: await send(opened.target) };
  await opened.close();
  return exchange;
}

/** Sends it once. */
export async function send(target: Target): Promise<Answer> {
  const { host, port, method = 'POST', path, headers, body } = target;
  const length = Buffer.byteLength(body);
  const sent = request({
    ...{ host, port, path, method },
    headers: {
      ...headers,
      ...(body !== '' && { 'Content-Type': 'application/json', 'Content-Length': length }),
    },
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = await response.toArray();
  const answer = Buffer.concat(chunks).toString();
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${answer}`);
  // Node adds these three headers itself.
  const { date, connection, 'keep-alive': keepAlive, ...own } = response.headers;
  return { status: response.statusCode, headers: own, body: answer };
}
