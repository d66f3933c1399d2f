import { get, type IncomingMessage } from 'node:http';
import { assertDeclared } from '../test/contract/declared.ts';

export interface CallOptions {
  /** The secret of an API key. */
  readonly key?: string;
  /** The stored id of a user with a session. */
  readonly user?: string;
  /** The result of `signIn`. */
  readonly cookie?: string;
  /** Sent as JSON; strings and bytes are sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: checked against the contract; tests read any field
  readonly body: any;
}

/** Replaces a session in tests that do not test sessions: `startService` authenticates the user in this header. */
export const userHeader = 'x-test-user';

/** Fails if the OpenAPI document does not declare the response. */
export async function callOver(
  url: string,
  method: string,
  path: string,
  { key, user, cookie, body, headers }: CallOptions = {},
): Promise<ApiResponse> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(user !== undefined && { [userHeader]: user, origin: url, cookie: 'a=session' }),
      ...(cookie !== undefined && { cookie, origin: url }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
    redirect: 'manual',
  });
  const text = await response.text();
  const apiResponse = {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : JSON.parse(text),
  };
  assertDeclared({ ...apiResponse, method, url: path });
  return apiResponse;
}

/** Resolves with the response before its body is read, on a connection of its own. */
export function openResponse(url: string, key: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${key}` };
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject);
  });
}
