import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { epochMs } from '../load/schedule.ts';

/**
 * Receives events: answers at once, or never below `/silent`. `GET /count` returns for how many executions an event has arrived,
 * `GET /arrivals` when the first one of each did, as Unix time in milliseconds; `DELETE` forgets them. It is a separate process, so that
 * pauses elsewhere do not count.
 */

const arrivals = new Map<string, number>();

const server = createServer(async (request, response) => {
  const atMs = performance.now();
  if (request.url?.startsWith('/silent')) return void request.resume();
  if (request.method === 'POST') {
    const { data } = JSON.parse(await text(request));
    if (!arrivals.has(data.executionId)) arrivals.set(data.executionId, atMs);
    return void response.writeHead(204).end();
  }
  if (request.method === 'DELETE') arrivals.clear();
  if (request.url === '/count') return void response.end(String(arrivals.size));
  const epoch = epochMs();
  const times = [...arrivals].map(([executionId, ms]) => [executionId, epoch + ms]);
  response.end(JSON.stringify(Object.fromEntries(times)));
});

server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once('SIGTERM', () => process.exit());
