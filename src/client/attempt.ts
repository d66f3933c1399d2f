import { CuelineError } from './error.ts';

/** One attempt at one call: out over `fetch`, back as a parsed answer or a `CuelineError`. */

/** What makes values of JSON and JSON of values. */
export interface JsonText {
  parse(text: string): unknown;
  stringify(value: unknown): string;
}

export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** What a good answer holds. Whatever else comes with a good status is not from a server of ours. */
  readonly promised: 'json' | 'nothing' | 'text';
  readonly parse: JsonText['parse'];
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface Incoming {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed where it is JSON, else the text; `null` where there is none. */
  readonly body: unknown;
}

export async function attempt(send: typeof fetch, out: Outgoing): Promise<Incoming> {
  out.signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(out.timeoutMs);
  const signal = out.signal ? AbortSignal.any([out.signal, timeout]) : timeout;
  try {
    const response = await send(out.url, {
      method: out.method,
      headers: { ...out.headers },
      body: out.body,
      signal,
      // A redirect would turn a POST into a GET, or carry the call to a place nobody configured.
      redirect: 'error',
    });
    const text = await response.text();
    const { status, headers } = response;
    const incoming = { status, headers, body: read(text, headers.get('content-type'), out) };
    if (!response.ok) throw refusal(incoming);
    if (!isAsPromised(incoming, text, out)) throw unpromised(incoming, text, out);
    return incoming;
  } catch (error) {
    throw failure(error, out, timeout);
  }
}

/** An answer that is read as it comes. Only its beginning has to be there in time. */
export async function attemptStream(
  send: typeof fetch,
  out: Outgoing,
): Promise<ReadableStream<Uint8Array>> {
  out.signal?.throwIfAborted();
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), out.timeoutMs);
  const signal = out.signal ? AbortSignal.any([out.signal, patience.signal]) : patience.signal;
  try {
    const response = await send(out.url, {
      method: out.method,
      headers: { ...out.headers },
      signal,
      redirect: 'error',
    });
    const { ok, status, headers } = response;
    const type = headers.get('content-type');
    if (ok && response.body && exported.test(type ?? '')) return response.body;
    const text = await response.text();
    const incoming = { status, headers, body: read(text, type, out) };
    throw ok ? unpromised(incoming, text, out) : refusal(incoming);
  } catch (error) {
    throw failure(error, out, patience.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** What is to be thrown; an abort of the caller's own is thrown as it is. */
function failure(error: unknown, out: Outgoing, timeout: AbortSignal): CuelineError {
  if (error instanceof CuelineError) return error;
  out.signal?.throwIfAborted();
  const cause = { cause: error };
  if (timeout.aborted) {
    return new CuelineError('TIMEOUT', `No answer within ${out.timeoutMs} ms.`, cause);
  }
  return new CuelineError('CONNECTION_FAILED', `The connection failed: ${reason(error)}.`, cause);
}

function read(text: string, type: string | null, { parse }: Outgoing): unknown {
  if (text === '') return null;
  if (!isJson(type)) return text;
  try {
    return parse(text);
  } catch (error) {
    throw new CuelineError('UNEXPECTED_ANSWER', 'The answer is not the JSON it says it is.', {
      body: text,
      cause: error,
    });
  }
}

function isJson(type: string | null): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(type ?? '');
}

/** The media types of what is read as it comes. */
const exported = /^(application\/jsonl|text\/csv)\b/i;

/** A `null` may be what is promised; nothing at all is not. */
function isAsPromised(
  { status, headers }: Incoming,
  text: string,
  { promised }: Outgoing,
): boolean {
  if (promised === 'text') return true;
  if (promised === 'nothing') return status === 204;
  return text !== '' && isJson(headers.get('content-type'));
}

/** A page to sign in at, for example, or whatever else answers where no Cueline is. */
function unpromised(
  { status, headers, body }: Incoming,
  text: string,
  { method, url }: Outgoing,
): CuelineError {
  const type = headers.get('content-type') ?? 'no content type';
  const came = text === '' ? 'without a body' : `with ${type}`;
  const message = `${method} ${url.split('?')[0]} answered ${status} ${came}, as Cueline does not. Is this its address?`;
  return new CuelineError('UNEXPECTED_ANSWER', message, { status, body });
}

/** The server's own words where it sent them; a proxy in between may have sent anything. */
function refusal({ status, headers, body }: Incoming): CuelineError {
  const problem = isProblem(body) ? body : null;
  const message = problem?.message ?? `The server answered ${status} without saying why.`;
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

/** `Retry-After` in milliseconds. Ours are seconds; a proxy's may be a date. */
export function retryAfterMs(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** `fetch` hides what happened in the cause of its error. */
function reason(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const inner = cause instanceof Error && cause.message ? cause : error;
  return inner instanceof Error ? inner.message : String(inner);
}
