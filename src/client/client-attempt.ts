import { CuelineError } from './error.ts';

/**
 * One attempt of one request over `fetch`. Returns a parsed response or throws a `CuelineError`.
 */

/** Parses and serializes JSON. */
export interface JsonText {
  parse(text: string): unknown;
  stringify(value: unknown): string;
}

/** A body that is sent as it is. */
export type UploadedFile = string | Blob | ReadableStream<Uint8Array>;

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: UploadedFile | null;
  /**
   * Expected content of a success response. A success response with other content is not from
   * Cueline.
   */
  readonly expected: 'json' | 'nothing' | 'text';
  readonly parse: JsonText['parse'];
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or the text of another media type. `null` without a body. */
  readonly body: unknown;
}

export async function attempt(send: typeof fetch, request: HttpRequest): Promise<HttpResponse> {
  request.signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal ? AbortSignal.any([request.signal, timeout]) : timeout;
  try {
    const response = await send(request.url, {
      method: request.method,
      headers: { ...request.headers },
      body: request.body,
      // Required for a stream.
      ...(request.body instanceof ReadableStream && { duplex: 'half' }),
      signal,
      // A redirect could turn a POST into a GET, or send the request to an unintended host.
      redirect: 'error',
    });
    const text = await response.text();
    const { status, headers } = response;
    const body = parseBody(text, headers.get('content-type'), request);
    const received = { status, headers, body };
    if (!response.ok) throw errorResponse(received);
    if (!isExpected(received, text, request)) throw unexpectedResponse(received, text, request);
    return received;
  } catch (error) {
    throw toClientError(error, request, timeout);
  }
}

/** Opens a streamed response. The timeout covers only the time until its headers. */
export async function attemptStream(
  send: typeof fetch,
  request: HttpRequest,
): Promise<ReadableStream<Uint8Array>> {
  request.signal?.throwIfAborted();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), request.timeoutMs);
  const signal = request.signal
    ? AbortSignal.any([request.signal, timeout.signal])
    : timeout.signal;
  try {
    const response = await send(request.url, {
      method: request.method,
      headers: { ...request.headers },
      signal,
      redirect: 'error',
    });
    const { ok, status, headers } = response;
    const type = headers.get('content-type');
    if (ok && response.body && streamedTypes.test(type ?? '')) return response.body;
    const text = await response.text();
    const received = { status, headers, body: parseBody(text, type, request) };
    throw ok ? unexpectedResponse(received, text, request) : errorResponse(received);
  } catch (error) {
    throw toClientError(error, request, timeout.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Converts a failure to the error to throw. An abort by the caller is thrown unchanged. */
function toClientError(error: unknown, request: HttpRequest, timeout: AbortSignal): CuelineError {
  if (error instanceof CuelineError) return error;
  request.signal?.throwIfAborted();
  const cause = { cause: error };
  if (timeout.aborted) {
    return new CuelineError('TIMEOUT', `No response within ${request.timeoutMs} ms.`, cause);
  }
  return new CuelineError('CONNECTION_FAILED', `The connection failed: ${reason(error)}.`, cause);
}

function parseBody(text: string, type: string | null, { parse }: HttpRequest): unknown {
  if (text === '') return null;
  if (!isJson(type)) return text;
  try {
    return parse(text);
  } catch (error) {
    throw new CuelineError('UNEXPECTED_ANSWER', 'The response is not valid JSON.', {
      body: text,
      cause: error,
    });
  }
}

function isJson(type: string | null): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(type ?? '');
}

/** Media types of streamed responses. */
const streamedTypes = /^(application\/jsonl|text\/csv|text\/event-stream)\b/i;

/** A JSON `null` can be expected; an empty body cannot. */
function isExpected(
  { status, headers }: HttpResponse,
  text: string,
  { expected }: HttpRequest,
): boolean {
  if (expected === 'text') return true;
  if (expected === 'nothing') return status === 204;
  return text !== '' && isJson(headers.get('content-type'));
}

/** For example a proxy's sign-in page, or another server at this address. */
function unexpectedResponse(
  { status, headers, body }: HttpResponse,
  text: string,
  { method, url }: HttpRequest,
): CuelineError {
  const type = headers.get('content-type') ?? 'no content type';
  const content = text === '' ? 'without a body' : `with ${type}`;
  const message = `${method} ${url.split('?')[0]} returned ${status} ${content}, which Cueline never does. Check the base URL.`;
  return new CuelineError('UNEXPECTED_ANSWER', message, { status, body });
}

/** Uses the server's message if there is one. A proxy may have sent anything. */
function errorResponse({ status, headers, body }: HttpResponse): CuelineError {
  const problem = isProblem(body) ? body : null;
  const message = problem?.message ?? `The server returned ${status} without an error message.`;
  return new CuelineError(problem?.code ?? 'UNEXPECTED_ANSWER', message, {
    status,
    requestId: problem?.requestId ?? headers.get('x-request-id'),
    retryAfterMs: retryAfterMs(headers),
    body,
  });
}

interface ProblemBody {
  readonly code: CuelineError['code'];
  readonly message: string;
  readonly requestId?: string;
}

function isProblem(body: unknown): body is ProblemBody {
  if (typeof body !== 'object' || body === null) return false;
  const { code, message } = body as Partial<ProblemBody>;
  return typeof code === 'string' && typeof message === 'string';
}

/** `Retry-After` in milliseconds. Cueline sends seconds; a proxy may send a date. */
export function retryAfterMs(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** `fetch` hides the reason in the `cause` of its error. */
function reason(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const inner = cause instanceof Error && cause.message ? cause : error;
  return inner instanceof Error ? inner.message : String(inner);
}
