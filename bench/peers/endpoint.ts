import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The same small endpoint for every peer: reads a call as Cueline's, hands it over, and answers 202 once the peer has
 * taken it for good. No key, no limit, no quota, no history.
 */
export interface Peer {
  /** Resolves, with an id, once the job is as durable as it gets. */
  accept(variables: Variables): Promise<string>;
  /** How many jobs have ended, with their output stored, since the last reset. */
  finished(): Promise<number>;
  reset(): Promise<void>;
}

export interface Variables {
  readonly name: string;
}

/** What a run costs is not what is measured: the model answers at once. */
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
