import {
  attempt,
  attemptStream,
  type HttpRequest,
  type HttpResponse,
  type JsonText,
  type UploadedFile,
} from './client-attempt.ts';
import { delayMs, mayRetry, type Sleep, sleep, timerMsMax } from './client-retry.ts';
import type { Input, Route, Routes } from './routes.ts';
import { joinValues } from './value-list.ts';

/** Sends every request of the client. */
export type Request = <R extends Route>(
  route: R,
  input: Input<R>,
  options?: RequestOptions,
) => Promise<ApiResponse<Routes[R]['response']>>;

export interface ApiResponse<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface ClientOptions {
  /** URL of the server, including a path prefix. Empty: the origin of the page. */
  readonly baseURL: string;
  /** API key; blanks around it are removed. Without one, the browser sends its session cookie. */
  readonly key?: string;
  /** Selects the workspace of a session whose user belongs to several. */
  readonly workspace?: string;
  readonly fetch?: typeof fetch;
  /** Replaces `JSON`, for example to keep numbers that `JSON` would round. */
  readonly json?: JsonText;
  /** Maximum number of safe retries. Default: 2. */
  readonly retries?: number;
  /** Timeout of one attempt in milliseconds, including a long poll. Default: 90,000, and 330,000 for uploads. */
  readonly requestTimeoutMs?: number;
  /** Waits between attempts. Replaces the timers of the host. */
  readonly sleep?: Sleep;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface RequestOptions extends CallOptions {
  readonly idempotencyKey?: string;
  /** `ETag` of the last read. The call fails with 412 if the resource changed since. */
  readonly ifMatch?: string;
  readonly retries?: number;
  /** Additional headers, such as a webhook signature. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is instead of the JSON of the body. */
  readonly file?: UploadedFile;
}

/**
 * `ifMatch`: the `etag` of the last read. The update fails with 412 if the resource changed since.
 */
export type ChangeOptions = Pick<RequestOptions, 'signal' | 'ifMatch'>;

const retriesDefault = 2;
export const requestTimeoutMsDefault = 90_000;
/** Longer than the server waits for an upload. */
const uploadTimeoutMsDefault = 330_000;

/**
 * Fails early, and without quoting the key: `fetch` would quote what is no valid header.
 * @throws {TypeError} if the key is empty, or has blanks or other characters that no key has
 */
export function withCheckedKey(client: ClientOptions): ClientOptions {
  if (client.key === undefined) return client;
  const key = client.key.trim();
  if (key === '') throw new TypeError('The API key is empty.');
  if (/^[\x21-\x7e]+$/.test(key)) return { ...client, key };
  throw new TypeError(
    'The API key contains a blank, a line break or another character that no key has. Copy it again.',
  );
}

/** Opens a streamed response. Never retried: only the reader knows where to continue. */
export type OpenStream = <R extends Route>(
  route: R,
  input: Input<R>,
  options?: RequestOptions,
) => Promise<ReadableStream<Uint8Array>>;

export function createOpenStream(client: ClientOptions): OpenStream {
  return (route, input, options = {}) =>
    attemptStream(fetchOf(client), httpRequest(client, route, input, options));
}

export function createRequest(client: ClientOptions): Request {
  return async (route, input, options = {}) => {
    const request = httpRequest(client, route, input, options);
    const retries = options.retries ?? client.retries ?? retriesDefault;
    const { method } = request;
    const repeatable = method === 'GET' || method === 'PUT' || options.idempotencyKey !== undefined;
    for (let failures = 1; ; failures++) {
      try {
        return (await attempt(fetchOf(client), request)) as HttpResponse &
          ApiResponse<Routes[typeof route]['response']>;
      } catch (error) {
        if (failures > retries || !mayRetry(error, repeatable)) throw error;
        await (client.sleep ?? sleep)(delayMs(error, failures), options.signal);
      }
    }
  };
}

/**
 * Calls `fetch` as a plain function: browsers reject a `fetch` called as a method of another
 * object.
 */
function fetchOf(client: ClientOptions): typeof fetch {
  return (...call) => (client.fetch ?? fetch)(...call);
}

function httpRequest<R extends Route>(
  client: ClientOptions,
  route: R,
  input: Input<R>,
  options: RequestOptions,
): HttpRequest {
  const [method = '', template = ''] = route.split(' ');
  const json = client.json ?? JSON;
  const timeoutMsDefault = options.file ? uploadTimeoutMsDefault : requestTimeoutMsDefault;
  return {
    method,
    url: client.baseURL.replace(/\/+$/, '') + fill(template, input.params) + search(input.query),
    headers: headersOf(client, options, input.body !== undefined),
    body: options.file ?? (input.body === undefined ? null : json.stringify(input.body)),
    expected: expectedContent(method, template),
    parse: (text) => json.parse(text),
    timeoutMs: Math.min(client.requestTimeoutMs ?? timeoutMsDefault, timerMsMax),
    signal: options.signal,
  };
}

/** Mirrors the contract, whose code is not part of the client. */
function expectedContent(method: string, template: string): HttpRequest['expected'] {
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
    // Such a value would address another operation: URLs resolve dots even if percent-encoded.
    if (['', '.', '..'].includes(value)) throw new TypeError(`${name} cannot be "${value}"`);
    return encodeURIComponent(value);
  });
}

function search(query: Readonly<Record<string, unknown>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, textOf(value)])).toString();
  return text && `?${text}`;
}

/** A list escapes the commas of its values; a text may already be a list. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? joinValues(value) : String(value);
}
