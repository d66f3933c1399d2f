/** The port through which events are sent. `net` implements it. */

/** The answer of a receiver. */
export interface PostAnswer {
  readonly status: number;
  /** Its `Retry-After` header. */
  readonly retryAfter: string | null;
  /** The beginning of its body, without what it repeats of the URL. */
  readonly text: string;
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Sends a request to a public or allowed address. Throws if there is no answer; the message is public text. */
export type PostEvent = (post: Post) => Promise<PostAnswer>;
