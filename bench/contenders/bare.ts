import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Bed } from '../bed.ts';
import type { Target } from '../load/job.ts';
import { serversDir, startServer } from '../server.ts';
import type { Contender } from './contender.ts';
import { openCueline } from './cueline.ts';

/**
 * The ceiling: a server that reads the same request and answers the same bytes as Cueline's 202, and does nothing else.
 */
export function bare(name: string, script: 'bare-node.ts' | 'bare-fastify.ts'): Contender {
  return {
    name,
    durability: 'none: nothing is kept',
    async open(bed) {
      const { target, answer } = await accepted(bed);
      const server = await startServer({
        command: [join(serversDir, script)],
        env: { ANSWER: JSON.stringify(answer) },
        logFile: join(bed.directory, 'bare.log'),
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

/** A 202 as Cueline sends it. */
export interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const known = new WeakMap<Bed, Promise<{ target: Target; answer: Answer }>>();

function accepted(bed: Bed): Promise<{ target: Target; answer: Answer }> {
  const found = known.get(bed) ?? record(bed);
  known.set(bed, found);
  return found;
}

async function record(bed: Bed): Promise<{ target: Target; answer: Answer }> {
  const opened = await openCueline(bed, { name: 'to be copied', roles: ['api'] });
  const { host, port, path, headers, body } = opened.target;
  const length = Buffer.byteLength(body);
  const sent = request({
    ...{ host, port, path, method: 'POST' },
    headers: { ...headers, 'Content-Type': 'application/json', 'Content-Length': length },
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = await response.toArray();
  await opened.close();
  if (response.statusCode !== 202) throw new Error(`not accepted: ${Buffer.concat(chunks)}`);
  // Node writes these three itself, for everyone.
  const { date, connection, 'keep-alive': keepAlive, ...own } = response.headers;
  return {
    target: opened.target,
    answer: { headers: own, body: Buffer.concat(chunks).toString() },
  };
}
