/**
 * The text that a client has been shown. What was sent cannot be taken back: after a restart, the text of the new attempt is
 * shown from where it continues, as long as it begins with what was shown.
 */
export class ShownText {
  #shown = '';
  /** The text of the current attempt. */
  #text = '';

  get length(): number {
    return this.#shown.length;
  }

  restart(): void {
    this.#text = '';
  }

  /** The text that was not shown yet; null if it contradicts what was. */
  add({ offset, text }: { readonly offset: number; readonly text: string }): string | null {
    this.#text = this.#text.slice(0, offset) + text;
    const known = Math.min(this.#shown.length, this.#text.length);
    if (this.#shown.slice(0, known) !== this.#text.slice(0, known)) return null;
    if (this.#text.length <= this.#shown.length) return '';
    const unseen = this.#text.slice(this.#shown.length);
    this.#shown = this.#text;
    return unseen;
  }

  /** Whether the attempt ended with less text than was shown. */
  get isShorter(): boolean {
    return this.#text.length < this.#shown.length;
  }
}

/** For a client whose stream cannot continue. */
export const restartedError = {
  code: 'RESTARTED',
  message:
    'The model was called again and its text differs from what was sent. Get the response by its id.',
} as const;
