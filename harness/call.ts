import { assertDeclared } from '../test/contract/declared.ts';

export interface CallOptions {
  /** The secret of an API key. */
  readonly key?: string;
  /** The stored id of a user who has a session. */
  readonly user?: string;
  /** Of `signIn`. */
  readonly cookie?: string;
  /** Sent as JSON; a text or bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the contract has been checked, and a test looks into it as it likes
  readonly body: any;
}

/** Stands in for a session where none is tested: `startService` takes the user of this header for signed in. */
export const userHeader = 'x-test-user';

/** Every answer must be one that the OpenAPI document declares. */
export async function callOver(
  url: string,
  method: string,
  path: string,
  { key, user, cookie, body, headers }: CallOptions = {},
): Promise<Answered> {
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
  const answered = {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : JSON.parse(text),
  };
  assertDeclared({ ...answered, method, url: path });
  return answered;
}
