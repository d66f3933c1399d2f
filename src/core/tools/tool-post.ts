/** The port through which requests to tool servers are sent. `net` implements it. */

export interface ToolPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For the whole request, its answer included. */
  readonly timeoutMs: number;
  /** Of the answer; the rest is counted and thrown away. */
  readonly keptBytes: number;
  readonly signal: AbortSignal;
}

/** Answers are read up to this size, also decompressed. */
export const answerBytesMax = 1_048_576;

export type PostedTool =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Its `Retry-After` header. */
      readonly retryAfter: string | null;
      /** The beginning of the body, and how long it was as far as it was read. */
      readonly bytes: Uint8Array;
      readonly length: number;
      /** `late`: not all of it came in time. `unreadable`: it came whole, but is not compressed as its header says. */
      readonly end: 'whole' | 'long' | 'broken' | 'late' | 'unreadable';
    }
  /** The address is none that the server may send to. */
  | { readonly kind: 'forbidden' }
  /** No byte of the request has left. */
  | { readonly kind: 'unsent' }
  /** No answer, or none in time, although the request may have left. */
  | { readonly kind: 'unanswered'; readonly why: 'timeout' | 'broken' | 'aborted' };

/** Sends a request to a public or allowed address. Follows no redirect, repeats nothing, and does not throw. */
export type PostTool = (post: ToolPost) => Promise<PostedTool>;
