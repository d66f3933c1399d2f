import type { Exchange } from '../core/model/model-port.ts';
import { credentialHeader, isVersion } from '../core/model/request-extras.ts';
import type { Connection } from './connection/provider-connection.ts';
import { secretsOf } from './connection/settings.ts';
import { hideSecrets, redact, redacted } from './failure/redact.ts';

/** Records the last request of a `fetch` and its response, for a person to read. */
export function recordExchange(fetch: typeof globalThis.fetch) {
  let last: Recorded | null = null;
  const recording: typeof fetch = async (input, init = {}) => {
    const recorded: Recorded = { url: String(input), init, response: null, text: '' };
    last = recorded;
    const response = await fetch(input, init);
    recorded.text = await response.clone().text();
    recorded.response = response;
    return response;
  };
  const shown = (connection: Connection) => last && toExchange(last, connection);
  return { fetch: recording, shown };
}

interface Recorded {
  readonly url: string;
  readonly init: RequestInit;
  response: Response | null;
  text: string;
}

/** With secrets removed: by the name of a header or parameter that may hold one, and by value everywhere. */
function toExchange({ url, init, response, text }: Recorded, connection: Connection): Exchange {
  const secrets = secretsOf(connection);
  return {
    request: {
      method: init.method ?? 'GET',
      url: hideSecrets(withoutQueryValues(url, connection), secrets),
      headers: shownHeaders(new Headers(init.headers), connection, secrets),
      body: shownBody(typeof init.body === 'string' ? init.body : '', secrets),
    },
    answer: response && {
      status: response.status,
      headers: shownHeaders(response.headers, connection, secrets),
      body: shownBody(text, secrets),
    },
  };
}

function withoutQueryValues(text: string, { query }: Connection): string {
  const url = new URL(text);
  for (const [name, value] of Object.entries(query)) {
    if (!isVersion(value)) url.searchParams.set(name, 'REDACTED');
  }
  return url.href.replaceAll('=REDACTED', `=${redacted}`);
}

function shownHeaders(
  headers: Headers,
  connection: Connection,
  secrets: readonly string[],
): Record<string, string> {
  const secretNames = new Set([
    ...Object.keys(connection.headers).map((name) => name.toLowerCase()),
    ...[credentialHeader(connection.kind), 'authorization', 'x-amz-security-token'],
  ]);
  return Object.fromEntries(
    [...headers]
      .filter(([name]) => name !== 'set-cookie')
      .map(([name, value]) => [
        name,
        secretNames.has(name) ? redacted : hideSecrets(value, secrets),
      ]),
  );
}

/** JSON as a value, unless it is long; anything else as text. */
function shownBody(text: string, secrets: readonly string[]): unknown {
  if (text === '') return null;
  if (text.length > shownCharsMax) return redact(text, secrets);
  try {
    return hideIn(JSON.parse(text), secrets);
  } catch {
    return redact(text, secrets);
  }
}

const shownCharsMax = 32_768;

function hideIn(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return hideSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((each) => hideIn(each, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      hideSecrets(name, secrets),
      hideIn(each, secrets),
    ]),
  );
}
