import { cookiesOf } from './sessions.ts';

/** Calls of `/api/auth`, which the OpenAPI document leaves to better-auth, as a browser or a program makes them. */

export interface Sent {
  readonly cookie?: string;
  readonly body?: unknown;
  /** The page that sends it; none unless given. */
  readonly origin?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Got {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it likes
  readonly body: any;
  /** What was set, as it is sent on. */
  readonly cookie: string;
}

export async function send(
  url: string,
  method: string,
  path: string,
  sent: Sent = {},
): Promise<Got> {
  const { cookie, body, origin, headers } = sent;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(cookie !== undefined && { cookie }),
      ...(origin !== undefined && { origin }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    redirect: 'manual',
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : JSON.parse(text),
    cookie: cookiesOf(response),
  };
}
