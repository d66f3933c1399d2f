import { createHash, type Hash } from 'node:crypto';

/**
 * The text that a client has been shown. What was sent cannot be taken back: after a restart, the text of the new attempt is
 * shown from where it continues, as long as it begins with what was shown. It is compared by a hash: the text itself would be
 * held for each reader.
 */
export class ShownText {
  #shown = new HashedText();
  /** The text of the current attempt while it repeats what was shown; null while it continues it. */
  #repeated: HashedText | null = null;

  get length(): number {
    return this.#shown.length;
  }

  restart(): void {
    this.#repeated = new HashedText();
  }

  /** The text that was not shown yet; null if it contradicts what was. */
  add({ text }: { readonly text: string }): string | null {
    if (!this.#repeated) {
      this.#shown.append(text);
      return text;
    }
    const known = text.slice(0, this.length - this.#repeated.length);
    this.#repeated.append(known);
    if (this.isShorter) return '';
    if (this.#repeated.digest() !== this.#shown.digest()) return null;
    this.#repeated = null;
    return text.length > known.length ? this.add({ text: text.slice(known.length) }) : '';
  }

  /** Whether the attempt ended with less text than was shown. */
  get isShorter(): boolean {
    return this.#repeated !== null && this.#repeated.length < this.length;
  }
}

class HashedText {
  length = 0;
  #hash: Hash | null = null;

  append(text: string): void {
    if (text === '') return;
    this.length += text.length;
    this.#hash ??= createHash('sha256');
    // Of UTF-16 units: a piece may end within a surrogate pair.
    this.#hash.update(text, 'utf16le');
  }

  digest(): string | null {
    return this.#hash?.copy().digest('base64') ?? null;
  }
}

/** For a client whose stream cannot continue. */
export const restartedError = {
  code: 'RESTARTED',
  message:
    'The model was called again and its text differs from what was sent. Get the response by its id.',
} as const;
