import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The same small endpoint for every peer: it reads an execute call and responds 202 once the peer has stored the job. It
 * has no key, limit, quota or history.
 */
export interface Peer {
  /** Resolves with an id once the peer has stored the job. */
  accept(variables: Variables): Promise<string>;
  /** The number of ended jobs since the last reset. */
  finished(): Promise<number>;
  reset(): Promise<void>;
}

export interface Variables {
  readonly name: string;
}

/** The model: it responds immediately, because the benchmark measures the queue. */
export function answerOf({ name }: Variables): { output: string } {
  return { output: `Hello ${name}` };
}

export function serve(peer: Peer): void {
  const server = createServer(async (request, response) => {
    try {
      if (request.method === 'POST' && request.url?.endsWith('/execute')) {
        const { variables } = (await readJson(request)) as { variables: Variables };
        const executionId = await peer.accept(variables);
        return send(202, { success: true, executionId, status: 'processing' });
      }
      if (request.url === '/finished') return send(200, await peer.finished());
      await peer.reset();
      send(200, null);
    } catch (error) {
      console.error(error);
      send(500, null);
    }

    function send(status: number, body: unknown): void {
      const text = JSON.stringify(body);
      response.writeHead(status, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(text),
      });
      response.end(text);
    }
  });
  server.listen(0, '127.0.0.1', () =>
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
  process.once('SIGTERM', () => process.exit());
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}
