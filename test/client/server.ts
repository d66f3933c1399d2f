import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { CuelineError, createClient } from '../../src/client/index.ts';
import type { ClientOptions } from '../../src/client/request.ts';

/** A real HTTP server with scripted responses, including faulty ones. It records the requests. */

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export type Step = (response: ServerResponse, requests: RecordedRequest) => void;

export interface Stage {
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** Delays that the client requested between attempts. None of them is awaited. */
  readonly delays: number[];
  readonly client: (options?: Partial<ClientOptions>) => ReturnType<typeof createClient>;
}

/** Each step answers one request; the last one answers all further requests. */
export async function stage(t: TestContext, ...steps: [Step, ...Step[]]): Promise<Stage> {
  const requests: RecordedRequest[] = [];
  const delays: number[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body: text === '' ? null : JSON.parse(text) };
    requests.push(one);
    (steps[requests.length - 1] ?? steps.at(-1))?.(response, one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sleep = async (ms: number, signal: AbortSignal | undefined) => {
    signal?.throwIfAborted();
    delays.push(ms);
  };
  const client = (options: Partial<ClientOptions> = {}) =>
    createClient({ baseURL: url, key: 'cue_secret', sleep, ...options });
  return { url, requests, delays, client };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Step {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** An error response as the server sends it. */
export function problem(
  status: number,
  code: string,
  more: { headers?: Record<string, string>; fields?: object } = {},
): Step {
  const body = { error: 'Refused', message: `Refused: ${code}.`, code, requestId: 'req_1' };
  return json(status, { ...body, ...more.fields }, more.headers);
}

/** Closes the connection before a response. */
export const reset: Step = (response) => response.destroy();

/** Closes the connection in the middle of the response. */
export const cut: Step = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"executionId":', () => response.destroy());
};

/** Never responds. */
export const silence: Step = () => {};

/** Error of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<CuelineError> {
  const error = await call.then(
    (value) => assert.fail(`answered ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CuelineError, String(error));
  return error;
}
