import { type Emit, unknownCost } from '../../core/model/model-port.ts';
import { storable } from '../../core/storable-text.ts';
import type { Counts } from '../port/model.ts';
import { countPartial, usageOf } from './usage.ts';

/**
 * The text of a streamed response, passed on as it will be recorded: without the `<think>` blocks with which it begins,
 * which are reasoning, and without what PostgreSQL cannot store. What may still become part of such a block waits.
 */
export class LiveText {
  readonly #emit: Emit;
  /** Buffered texts are passed on at the end only. */
  readonly #isBuffered: boolean;
  #state: 'begin' | 'thinking' | 'text' = 'begin';
  #hasThought = false;
  #waiting = '';
  /** The first half of a surrogate pair whose second one has not arrived. */
  readonly #halves = { text: '', reasoning: '' };
  readonly #emitted: string[] = [];
  #hasReasoning = false;
  readonly #count: (usage: unknown) => Counts;
  #usage: Readonly<Record<string, unknown>> = {};

  constructor(emit: Emit, isBuffered: boolean, count: (usage: unknown) => Counts = countPartial) {
    this.#emit = emit;
    this.#isBuffered = isBuffered;
    this.#count = count;
  }

  /** Passes on what is known of the usage before the end, for a call that is canceled. */
  readonly usage = (raw: Readonly<Record<string, unknown>>): void => {
    this.#usage = { ...this.#usage, ...raw };
    const { outputTokens = 0, ...counts } = this.#count(this.#usage);
    const usage = usageOf({ ...counts, outputTokens });
    if (usage) this.#emit({ type: 'usage', usage, cost: unknownCost });
  };

  readonly text = (delta: string): void => {
    if (this.#isBuffered) return;
    const rest = this.#state === 'text' ? delta : this.#splitThoughts(delta);
    const emitted = this.#emitWhole('text', rest);
    if (emitted !== '') this.#emitted.push(emitted);
  };

  readonly reasoning = (delta: string): void => {
    this.#hasReasoning ||= delta !== '';
    this.#emitWhole('reasoning', delta);
  };

  /**
   * Passes on what is missing of the whole response. Returns its text: what readers have seen if that is not its
   * beginning.
   */
  end(text: string, reasoning: string | null): string {
    if (this.#state === 'thinking') this.#think(this.#waiting.length);
    if (reasoning !== null && !this.#hasReasoning) this.reasoning(reasoning);
    const half = storable(this.#halves.reasoning);
    if (half !== '') this.#emit({ type: 'reasoning', text: half });
    const emitted = this.#emitted.join('');
    if (!text.startsWith(emitted)) return emitted;
    if (text.length > emitted.length)
      this.#emit({ type: 'text', text: text.slice(emitted.length) });
    return text;
  }

  /** Returns what it has emitted: all but a half of a surrogate pair that may still become whole. */
  #emitWhole(type: 'text' | 'reasoning', delta: string): string {
    const text = this.#halves[type] + delta;
    const half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
    this.#halves[type] = half;
    const whole = storable(text.slice(0, text.length - half.length));
    if (whole !== '') this.#emit({ type, text: whole });
    return whole;
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
