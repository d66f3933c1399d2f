import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider with outages. It counts calls during an outage and concurrent calls after the recovery. */
export interface OutageProvider {
  /** For `OLLAMA_BASE_URL`. */
  readonly url: string;
  readonly callsInOutage: number;
  /** Since the recovery, the maximum of concurrent calls minus answered calls. */
  readonly excessCalls: number;
  startOutage(): void;
  endOutage(): void;
  close(): Promise<void>;
}

export async function startOutageProvider(answerAfterMs: number): Promise<OutageProvider> {
  let failing = false;
  let callsInOutage = 0;
  let answered = 0;
  let inFlight = 0;
  let excessCalls = 0;

  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      if (failing) return fail(response, callsInOutage++);
      inFlight++;
      excessCalls = Math.max(excessCalls, inFlight - answered);
      const timer = setTimeout(() => {
        inFlight--;
        answered++;
        answer(response);
      }, answerAfterMs);
      // Canceled by its process, which may make another call instead.
      response.once('close', () => {
        if (response.writableEnded) return;
        clearTimeout(timer);
        inFlight--;
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get callsInOutage() {
      return callsInOutage;
    },
    get excessCalls() {
      return excessCalls;
    },
    startOutage() {
      failing = true;
    },
    endOutage() {
      failing = false;
      answered = 0;
      inFlight = 0;
      excessCalls = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Alternates between a 503 and a reset connection. */
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
