import type { ProblemCode } from './wire.ts';

/** Failures without an error response from the server. */
export type ClientCode =
  | 'CONNECTION_FAILED'
  | 'TIMEOUT'
  | 'WAIT_TIMEOUT'
  | 'UNEXPECTED_ANSWER'
  | 'INVALID_SIGNATURE';

/**
 * Every failure of the client. An abort by the caller's signal is thrown as its own reason instead.
 */
export class CuelineError extends Error {
  /** HTTP status of the response. 0 without a response. */
  readonly status: number;
  readonly code: ProblemCode | ClientCode;
  /** Identifies the request for the server's operator. `null` without a response. */
  readonly requestId: string | null;
  /** Delay requested by the server, in milliseconds. `null` if there is none. */
  readonly retryAfterMs: number | null;
  /**
   * Body of the response: the problem with all its fields, a text, or the last record that a wait
   * has read.
   */
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
