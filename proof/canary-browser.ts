import { cookiesOf } from '../harness/sessions.ts';
import type { Sinks } from './canary-scenario.ts';

type Headers = Readonly<Record<string, string>>;
// biome-ignore lint/suspicious/noExplicitAny: callers know the shape
type Answer = any;

/** Sends calls with the current session, unless headers override it, and collects every response. */
export function createBrowser(url: string, sinks: Pick<Sinks, 'answers' | 'errors'>) {
  let cookie = '';

  async function send(
    method: string,
    path: string,
    body: unknown,
    given: Headers,
    into: string[] = sinks.answers,
  ): Promise<Answer> {
    const signedIn = given.authorization === undefined && given.cookie === undefined;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(signedIn && cookie !== '' && { cookie, origin: url }),
        ...given,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      redirect: 'manual',
    });
    const text = await response.text();
    (response.status >= 400 ? sinks.errors : into).push(`${response.status} ${text}`);
    if (path.endsWith('/sign-in/email') && response.ok) cookie = cookiesOf(response);
    return text.startsWith('{') ? JSON.parse(text) : {};
  }

  return {
    cookie: () => cookie,
    signIn: (email: string, password: string) =>
      send('POST', '/api/auth/sign-in/email', { email, password }, {}),
    get: (path: string, headers: Headers, into?: string[]) =>
      send('GET', path, undefined, headers, into),
    post: (path: string, body: unknown, headers: Headers = {}) => send('POST', path, body, headers),
    put: (path: string, body: unknown) => send('PUT', path, body, {}),
  };
}
