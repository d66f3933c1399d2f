import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider with outages. It counts the calls during an outage and the concurrent calls after the recovery. */
export interface OutageProvider {
  /** In the form of `OLLAMA_BASE_URL`. */
  readonly url: string;
  /** Calls during the outage. */
  readonly callsInOutage: number;
  /** Calls answered since the recovery. */
  readonly answeredSince: number;
  /** The most concurrent calls since the recovery, beyond the number answered by then. */
  readonly crowdSince: number;
  out(): void;
  back(): void;
  close(): Promise<void>;
}

export async function startOutageProvider(answerAfterMs: number): Promise<OutageProvider> {
  let out = false;
  let callsInOutage = 0;
  let answeredSince = 0;
  let underWay = 0;
  let crowdSince = 0;

  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      if (out) return fail(response, callsInOutage++);
      underWay++;
      crowdSince = Math.max(crowdSince, underWay - answeredSince);
      setTimeout(() => {
        underWay--;
        answeredSince++;
        answer(response);
      }, answerAfterMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get callsInOutage() {
      return callsInOutage;
    },
    get answeredSince() {
      return answeredSince;
    },
    get crowdSince() {
      return crowdSince;
    },
    out() {
      out = true;
    },
    back() {
      out = false;
      answeredSince = 0;
      underWay = 0;
      crowdSince = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Alternates between a gateway without servers and a closed connection. */
function fail(response: ServerResponse, number: number): void {
  if (number % 2 === 1) return void response.socket?.resetAndDestroy();
  response.writeHead(503, { 'content-type': 'text/plain' });
  response.end('Service Unavailable');
}

function answer(response: ServerResponse): void {
  const message = { role: 'assistant', content: 'there' };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'any',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  );
}
