import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import type { BenchEnvironment } from '../environment.ts';
import type { Target } from '../load/job.ts';
import { serversDir, startServer } from '../server.ts';
import type { Contender } from './contender.ts';
import { openCueline } from './cueline.ts';

/**
 * The ceiling: a server that reads the same request and sends the same bytes as Cueline. The default is an execute call
 * and its 202.
 */
export function bare(
  name: string,
  script: 'bare-node.ts' | 'bare-fastify.ts',
  exchange: (environment: BenchEnvironment) => Promise<Exchange> = accepted,
): Contender {
  return {
    name,
    durability: 'none',
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

const exchanges = new WeakMap<BenchEnvironment, Promise<Exchange>>();

function accepted(environment: BenchEnvironment): Promise<Exchange> {
  const exchange = exchanges.get(environment) ?? recordExchange(environment);
  exchanges.set(environment, exchange);
  return exchange;
}

async function recordExchange(environment: BenchEnvironment): Promise<Exchange> {
  const opened = await openCueline(environment, { name: 'recorded', roles: ['api'] });
  const exchange = { target: opened.target, answer: await send(opened.target) };
  await opened.close();
  return exchange;
}

/** Sends the request once. Throws unless the response is a 2xx. */
export async function send(target: Target): Promise<Answer> {
  const { host, port, method = 'POST', path, headers, body } = target;
  const length = Buffer.byteLength(body);
  const call = request({
    ...{ host, port, path, method },
    headers: {
      ...headers,
      ...(body !== '' && { 'Content-Type': 'application/json', 'Content-Length': length }),
    },
  });
  call.end(body);
  const [response] = await once(call, 'response');
  const chunks: Buffer[] = await response.toArray();
  const answer = Buffer.concat(chunks).toString();
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${answer}`);
  // Node adds these three headers itself.
  const { date, connection, 'keep-alive': keepAlive, ...own } = response.headers;
  return { status: response.statusCode, headers: own, body: answer };
}
