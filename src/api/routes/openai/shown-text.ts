import type { ExecutionDetailRow } from '../../../store/execution/executions.ts';

/** What a stream of an execution reports, as far as the OpenAI API shows it. */
export type StreamEvent =
  | { readonly type: 'text'; readonly offset: number; readonly text: string }
  | { readonly type: 'restart' }
  | { readonly type: 'end'; readonly execution: ExecutionDetailRow };

/**
 * The text that a client has been shown. What was sent cannot be taken back: after a restart, the text of the new attempt is
 * shown from where it goes on, as long as it begins with what was shown.
 */
export class ShownText {
  #shown = '';
  /** The text of the current attempt. */
  #text = '';
  readonly #from: number;

  /** @param from the client has this many UTF-16 units */
  constructor(from = 0) {
    this.#from = from;
  }

  get length(): number {
    return this.#shown.length;
  }

  restart(): void {
    this.#text = '';
  }

  /** The text that the client has not seen; null if it contradicts what was shown. */
  add({ offset, text }: { readonly offset: number; readonly text: string }): string | null {
    this.#text = this.#text.slice(0, offset) + text;
    const known = Math.min(this.#shown.length, this.#text.length);
    if (this.#shown.slice(0, known) !== this.#text.slice(0, known)) return null;
    if (this.#text.length <= this.#shown.length) return '';
    const unseen = this.#text.slice(Math.max(this.#shown.length, this.#from));
    this.#shown = this.#text;
    return unseen;
  }
}

/** For a client whose stream cannot go on. */
export const restartedError = {
  code: 'RESTARTED',
  message: 'The model was called again and its text differs from what was sent. Read the response.',
} as const;
