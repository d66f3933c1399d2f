/** The port through which requests to tool servers are sent. `net` implements it. */

export interface ToolPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For the whole request, its answer included. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Answers are read up to this size. */
export const answerBytesMax = 1_048_576;

export type PostedTool =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Its `Retry-After` header. */
      readonly retryAfter: string | null;
      /** The beginning of the body unless it is whole. */
      readonly bytes: Uint8Array;
      readonly end: 'whole' | 'long' | 'broken';
    }
  /** The address is none that the server may send to. */
  | { readonly kind: 'forbidden' }
  /** No byte of the request has left. */
  | { readonly kind: 'unsent' }
  /** No answer, or none in time, although the request may have left. */
  | { readonly kind: 'unanswered'; readonly why: 'timeout' | 'broken' | 'aborted' };

/** Sends a request to a public or allowed address. Follows no redirect, repeats nothing, and does not throw. */
export type PostTool = (post: ToolPost) => Promise<PostedTool>;
