import { cookiesOf } from './sessions.ts';

/** Calls of `/api/auth`, which better-auth serves and the OpenAPI document omits. */

export interface AuthRequest {
  readonly cookie?: string;
  readonly body?: unknown;
  /** The `Origin` header; none by default. */
  readonly origin?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AuthResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  readonly body: any;
  /** The new cookies, as a `Cookie` header. */
  readonly cookie: string;
}

export async function send(
  url: string,
  method: string,
  path: string,
  sent: AuthRequest = {},
): Promise<AuthResponse> {
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
