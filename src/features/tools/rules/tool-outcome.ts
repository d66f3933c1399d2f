import { retryAfterSeconds } from '../../../core/event/retry.ts';
import { storable } from '../../../core/storable-text.ts';
import type { ToolOutcome } from '../../../core/tools/tool-port.ts';
import type { PostedTool } from '../../../core/tools/tool-post.ts';

/**
 * How a call of a tool ended. Results are untrusted text: they are cut, and what they repeat of the server's secrets is removed.
 * Nothing here names an address: what it says goes to a model and into a record.
 *
 * | answer | outcome |
 * |---|---|
 * | none, and nothing was sent; 429 with `Retry-After` | refused before any work |
 * | 2xx | the result |
 * | 3xx, 4xx, 500, 501; 2xx with more than the maximum, or that cannot be decompressed; an address that is not allowed | a result that is an error |
 * | 408, another 5xx, no answer in time, a connection that broke | unknown |
 */

export interface OutcomeOptions {
  readonly resultLimit: number;
  readonly timeoutMs: number;
  readonly nowMs: number;
  /** Removes the server's secrets from a text. */
  readonly hide: (text: string) => string;
}

export function outcomeOf(posted: PostedTool, options: OutcomeOptions): ToolOutcome {
  switch (posted.kind) {
    case 'forbidden':
      return failed('The address of the tool server is not allowed.');
    case 'unsent':
      return refused('The tool server could not be reached.');
    case 'unanswered':
      return { kind: 'unknown', problem: unanswered(posted.why, options.timeoutMs) };
    case 'answered':
      return answered(posted, options);
  }
}

/** A call that was not sent, or whose answer is no result. */
export function failed(result: string): ToolOutcome {
  return { kind: 'done', result, isError: true };
}

export function refused(problem: string, retryAfterMs = 0): ToolOutcome {
  return { kind: 'refused', retryAfterMs, problem };
}

function unanswered(why: 'timeout' | 'broken' | 'aborted', timeoutMs: number): string {
  if (why === 'timeout') return `The tool server did not answer within ${timeoutMs} ms.`;
  if (why === 'aborted') return 'The request was aborted before the tool server answered.';
  return 'The connection to the tool server broke before it answered.';
}

type Answered = Extract<PostedTool, { kind: 'answered' }>;

function answered(posted: Answered, options: OutcomeOptions): ToolOutcome {
  const { status, retryAfter, end } = posted;
  if (status === 429 && retryAfter !== null) {
    const seconds = retryAfterSeconds(retryAfter, options.nowMs);
    return refused('The tool server answered 429.', seconds * 1_000);
  }
  if (status === 408 || (status >= 500 && !isRefusal.has(status))) {
    return { kind: 'unknown', problem: `The tool server answered ${status}.` };
  }
  if (status < 300 && end === 'broken') {
    const problem = 'The connection to the tool server broke before its answer was complete.';
    return { kind: 'unknown', problem };
  }
  if (status < 300 && end === 'late') {
    return { kind: 'unknown', problem: unanswered('timeout', options.timeoutMs) };
  }
  if (status < 300 && end === 'long') return failed('The answer of the tool is too long.');
  if (status < 300 && end === 'unreadable')
    return failed('The answer of the tool is not readable.');
  if (status >= 300 && status < 400) {
    return failed(`The tool server answered ${status}, a redirect, which is not followed.`);
  }
  return result(posted, options);
}

/** Of a server that is not overloaded and has no other one behind it: it has answered for itself. */
const isRefusal: ReadonlySet<number> = new Set([500, 501]);

function result({ status, bytes, length, end }: Answered, options: OutcomeOptions): ToolOutcome {
  const { resultLimit, hide } = options;
  const isError = status >= 300;
  // Secrets are removed before the text is cut, so that no part of one remains.
  const text = storable(hide(new TextDecoder().decode(bytes)));
  const whole = isError ? `The tool server answered ${status}: ${text}`.trim() : text;
  const isLong = bytes.length < length || Buffer.byteLength(whole) > resultLimit;
  if (end === 'whole' && !isLong) return { kind: 'done', result: whole, isError };
  const note = isLong
    ? `\n[The result is cut to ${resultLimit} bytes.]`
    : '\n[The rest of the answer could not be read.]';
  return { kind: 'done', result: cut(whole, resultLimit - note.length) + note, isError };
}

/** The longest form of a secret: a header of 4,096 characters, percent-encoded. */
const secretBytesMax = 12_288;

/** What of an answer can become part of a result, with a secret that is removed from it. */
export function keptBytesOf(resultLimit: number): number {
  return resultLimit + secretBytesMax;
}

/** Leaves out a character that does not fit as a whole. */
function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text).subarray(0, bytesMax);
  return new TextDecoder().decode(bytes, { stream: true });
}
