import type { ProblemCode } from './wire.ts';

/** What went wrong on this side of the wire, where no answer says it. */
export type ClientCode = 'CONNECTION_FAILED' | 'TIMEOUT' | 'WAIT_TIMEOUT' | 'UNEXPECTED_ANSWER';

/** Everything that fails, but for an abort by the caller's own signal, which is thrown as its reason. */
export class CuelineError extends Error {
  /** The status of the answer; 0 where there was none. */
  readonly status: number;
  readonly code: ProblemCode | ClientCode;
  /** What to quote to whoever runs the server; `null` where there was no answer. */
  readonly requestId: string | null;
  /** How long the server asks to wait, in milliseconds; `null` where it says nothing. */
  readonly retryAfterMs: number | null;
  /** The answer as it came: the problem with all its fields, a text, or the last record that a wait has read. */
  readonly body: unknown;

  constructor(
    code: CuelineError['code'],
    message: string,
    more: {
      status?: number;
      requestId?: string | null;
      retryAfterMs?: number | null;
      body?: unknown;
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'CuelineError';
    this.status = more.status ?? 0;
    this.code = code;
    this.requestId = more.requestId ?? null;
    this.retryAfterMs = more.retryAfterMs ?? null;
    this.body = more.body ?? null;
  }
}
