import { cookiesOf } from './sessions.ts';

/** Calls of `/api/auth`, which better-auth serves and the OpenAPI document leaves out. */

export interface Sent {
  readonly cookie?: string;
  readonly body?: unknown;
  /** The `Origin` header; none by default. */
  readonly origin?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Got {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it likes
  readonly body: any;
  /** The cookies that were set, in the form in which they are sent back. */
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
