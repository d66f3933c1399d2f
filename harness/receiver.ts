import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of events on a socket of its own. */
export interface Receiver {
  readonly url: string;
  /** The requests so far, in the order of their arrival. */
  readonly requests: ReceivedRequest[];
  /** Resolves once `count` requests have arrived. */
  received(count: number): Promise<ReceivedRequest[]>;
  /** Answers later requests; by default with 200. */
  answer: Answer;
  close(): Promise<void>;
}

export interface ReceivedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly event: {
    readonly type: string;
    readonly timestamp: string;
    // biome-ignore lint/suspicious/noExplicitAny: each type has other data
    readonly data: Record<string, any>;
  };
}

export type Answer = (request: ReceivedRequest, response: http.ServerResponse) => void;

/** The configuration with which a service may send to receivers. */
export const toReceivers = { allowedHosts: ['127.0.0.1'] };

export async function startReceiver(answer: Answer = ok): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const headers = request.headers as Record<string, string>;
    const one = { headers, body, event: JSON.parse(body) };
    requests.push(one);
    receiver.answer(one, response);
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    requests,
    received(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ count, resolve });
      if (requests.length >= count) resolve();
      return promise.then(() => requests.slice(0, count));
    },
    answer,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

function ok(_: ReceivedRequest, response: http.ServerResponse): void {
  response.end('thanks');
}

/** Answers with a status. */
export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (_, response) => void response.writeHead(code, headers).end(`status ${code}`);
}
