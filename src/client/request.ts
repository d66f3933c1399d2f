import { attempt, attemptStream, type Incoming, type JsonText, type Outgoing } from './attempt.ts';
import { delayMs, mayRetry, type Sleep, sleep, timerMsMax } from './retry.ts';
import type { Input, Output, Route } from './routes.ts';

/** The one function that everything in the client calls through. */
export type Request = <R extends Route>(
  route: R,
  input: Input<R>,
  options?: RequestOptions,
) => Promise<Answered<Output<R>>>;

export interface Answered<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface ClientOptions {
  /** Where the server is, with any path prefix; empty for the page's own origin. */
  readonly baseURL: string;
  /** An API key; without one the browser's session cookie is what counts. */
  readonly key?: string;
  /** With a session: which of the user's workspaces is meant. */
  readonly workspace?: string;
  readonly fetch?: typeof fetch;
  /** How bodies are read and written: one of its own keeps numbers that `JSON`, which is taken else, would round. */
  readonly json?: JsonText;
  /** How often a failed call is tried again where that is safe; 2 unless set. */
  readonly retries?: number;
  /** For one attempt, in milliseconds; 90,000 unless set. A `wait` of the server counts in. */
  readonly requestTimeoutMs?: number;
  /** What waits between attempts, where the host has timers of its own. */
  readonly sleep?: Sleep;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface RequestOptions extends CallOptions {
  readonly idempotencyKey?: string;
  /** An `ETag`: the call fails with 412 where it is not the state any more. */
  readonly ifMatch?: string;
  readonly retries?: number;
  /** More of them, for what is signed by its sender. */
  readonly headers?: Readonly<Record<string, string>>;
}

const retriesDefault = 2;
export const requestTimeoutMsDefault = 90_000;

/** Opens an answer that is read as it comes. Tried once: only its reader knows where to go on. */
export type OpenStream = <R extends Route>(
  route: R,
  input: Input<R>,
  options?: CallOptions,
) => Promise<ReadableStream<Uint8Array>>;

export function createOpenStream(client: ClientOptions): OpenStream {
  return (route, input, options = {}) =>
    attemptStream(senderOf(client), outgoing(client, route, input, options));
}

export function createRequest(client: ClientOptions): Request {
  return async (route, input, options = {}) => {
    const out = outgoing(client, route, input, options);
    const retries = options.retries ?? client.retries ?? retriesDefault;
    const { method } = out;
    const repeatable = method === 'GET' || method === 'PUT' || options.idempotencyKey !== undefined;
    for (let failures = 1; ; failures++) {
      try {
        return (await attempt(senderOf(client), out)) as Incoming & Answered<Output<typeof route>>;
      } catch (error) {
        if (failures > retries || !mayRetry(error, repeatable)) throw error;
        await (client.sleep ?? sleep)(delayMs(error, failures), options.signal);
      }
    }
  };
}

/** Called as a plain function: browsers refuse a `fetch` that has become a method of something else. */
function senderOf(client: ClientOptions): typeof fetch {
  return (...call) => (client.fetch ?? fetch)(...call);
}

function outgoing<R extends Route>(
  client: ClientOptions,
  route: R,
  input: Input<R>,
  options: RequestOptions,
): Outgoing {
  const [method = '', template = ''] = route.split(' ');
  const json = client.json ?? JSON;
  return {
    method,
    url: client.baseURL.replace(/\/+$/, '') + fill(template, input.params) + search(input.query),
    headers: headersOf(client, options, input.body !== undefined),
    body: input.body === undefined ? null : json.stringify(input.body),
    promised: promisedOf(method, template),
    parse: (text) => json.parse(text),
    timeoutMs: Math.min(client.requestTimeoutMs ?? requestTimeoutMsDefault, timerMsMax),
    signal: options.signal,
  };
}

/** As the contract has it; its code is not part of the client. */
function promisedOf(method: string, template: string): Outgoing['promised'] {
  if (method === 'DELETE') return 'nothing';
  return template.startsWith('/api/') ? 'json' : 'text';
}

function headersOf(client: ClientOptions, options: RequestOptions, hasBody: boolean) {
  return {
    accept: 'application/json',
    ...(hasBody && { 'content-type': 'application/json' }),
    ...(client.key !== undefined && { authorization: `Bearer ${client.key}` }),
    ...(client.workspace !== undefined && { 'cueline-workspace': client.workspace }),
    ...(options.idempotencyKey !== undefined && { 'idempotency-key': options.idempotencyKey }),
    ...(options.ifMatch !== undefined && { 'if-match': options.ifMatch }),
    ...options.headers,
  };
}

function fill(template: string, params: Readonly<Record<string, string>> = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? '';
    // These would address another operation: a URL resolves dots even where they are escaped.
    if (['', '.', '..'].includes(value)) throw new TypeError(`${name} cannot be "${value}"`);
    return encodeURIComponent(value);
  });
}

function search(query: Readonly<Record<string, unknown>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}
