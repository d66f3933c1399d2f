import type { Emit } from '../core/model/model-events.ts';
import { storable } from '../core/storable-text.ts';

/**
 * The text of a streamed response, passed on as it will be recorded: without the `<think>` blocks with which it begins,
 * which are reasoning, and without what PostgreSQL cannot store. What may still become part of such a block waits.
 */
export class LiveText {
  readonly #emit: Emit;
  /** Held texts are passed on at the end only. */
  readonly #held: boolean;
  #state: 'begin' | 'thinking' | 'text' = 'begin';
  #hasThought = false;
  #waiting = '';
  /** The first half of a surrogate pair. */
  #half = '';
  readonly #shown: string[] = [];
  #hasReasoning = false;

  constructor(emit: Emit, held: boolean) {
    this.#emit = emit;
    this.#held = held;
  }

  readonly text = (delta: string): void => {
    if (this.#held) return;
    const rest = this.#state === 'text' ? delta : this.#splitThoughts(delta);
    if (rest !== '') this.#show(rest);
  };

  readonly reasoning = (delta: string): void => {
    const text = storable(delta);
    if (text === '') return;
    this.#hasReasoning = true;
    this.#emit({ type: 'reasoning', text });
  };

  /**
   * Passes on what is missing of the whole response. Returns its text: what readers have seen if that is not its
   * beginning.
   */
  end(text: string, reasoning: string | null): string {
    if (this.#state === 'thinking') this.#think(this.#waiting.length);
    if (reasoning !== null && !this.#hasReasoning) this.reasoning(reasoning);
    const shown = this.#shown.join('');
    if (!text.startsWith(shown)) return shown;
    if (text.length > shown.length) this.#emit({ type: 'text', text: text.slice(shown.length) });
    return text;
  }

  #show(delta: string): void {
    const text = this.#half + delta;
    this.#half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
    const whole = storable(text.slice(0, text.length - this.#half.length));
    if (whole === '') return;
    this.#shown.push(whole);
    this.#emit({ type: 'text', text: whole });
  }

  /** Returns the text after the blocks, once it has begun. */
  #splitThoughts(delta: string): string {
    this.#waiting += delta;
    for (;;) {
      if (this.#state === 'thinking') {
        const end = this.#waiting.indexOf(closing);
        if (end < 0) return this.#think(this.#waiting.length - closing.length);
        this.#think(end);
        this.#waiting = this.#waiting.slice(closing.length);
        this.#state = 'begin';
      }
      const trimmed = this.#waiting.trimStart();
      if (trimmed.startsWith(opening)) {
        this.#waiting = trimmed.slice(opening.length);
        this.#state = 'thinking';
        this.#hasThought = true;
        continue;
      }
      const mayBegin = opening.startsWith(trimmed) && this.#waiting.length < blanksMax;
      if (mayBegin) return '';
      this.#state = 'text';
      return this.#hasThought ? trimmed : this.#waiting;
    }
  }

  /** Passes on so many characters as reasoning. */
  #think(length: number): '' {
    const count = Math.max(0, length);
    this.reasoning(this.#waiting.slice(0, count));
    this.#waiting = this.#waiting.slice(count);
    return '';
  }
}

const opening = '<think>';
const closing = '</think>';
/** A text that begins with more blanks is passed on as it is. */
const blanksMax = 1_000;
