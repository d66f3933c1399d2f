import type { ToolCall } from '../../core/agent/messages.ts';
import type { ModelEvent, Usage } from '../../core/model/model-port.ts';
import { pieceEnd, piecesOf } from '../../core/text-pieces.ts';

/**
 * What an attempt has emitted so far. Offsets count UTF-16 units of text, or of reasoning, before the event; `at` is the
 * offset in the text at which reasoning or a tool call arrived.
 */
export type EmittedEvent =
  | {
      readonly type: 'text';
      readonly offset: number;
      readonly text: string;
      readonly turn?: number;
      /** What was known of the usage when it arrived, for a cancel; left out if nothing new was. */
      readonly usage?: Usage;
    }
  | {
      readonly type: 'reasoning';
      readonly offset: number;
      readonly at: number;
      readonly text: string;
      readonly turn?: number;
      readonly usage?: Usage;
    }
  | {
      readonly type: 'tool';
      readonly index: number;
      readonly at: number;
      readonly toolCall: ToolCall;
    };

/** How far a reader has come within an attempt. */
export interface StreamPosition {
  readonly attempt: number;
  /** In the text. */
  readonly offset: number;
  /** In the reasoning; null if only the offset in the text is known. */
  readonly reasoning: number | null;
  /** The number of tool calls, likewise. */
  readonly tools: number | null;
}

export function startOf(attempt: number): StreamPosition {
  return { attempt, offset: 0, reasoning: 0, tools: 0 };
}

/** The events of an attempt, as they are emitted. */
export class EmittedEvents {
  readonly #events: EmittedEvent[] = [];
  readonly #turn: { readonly turn?: number };
  #offset = 0;
  #reasoning = 0;
  #tools = 0;
  #usage: Usage | null = null;

  /** @param turn of a tool loop */
  constructor(turn?: number) {
    this.#turn = turn ? { turn } : {};
  }

  get all(): readonly EmittedEvent[] {
    return this.#events;
  }

  /** False for an event that is not emitted. A long text is emitted in pieces. */
  add(event: ModelEvent): boolean {
    if ('text' in event && event.text.length > emittedCharsMax) {
      for (const text of piecesOf(event.text, emittedCharsMax)) {
        this.add({ type: event.type, text: copyOf(text) });
      }
      return true;
    }
    const emitted = this.#toEmitted(event);
    if (emitted) this.#events.push(emitted);
    return emitted !== null;
  }

  #toEmitted(event: ModelEvent): EmittedEvent | null {
    const at = this.#offset;
    if (event.type === 'usage') this.#usage = event.usage;
    if ('text' in event) {
      const more = { ...this.#turn, ...(this.#usage && { usage: this.#usage }) };
      this.#usage = null;
      const { type, text } = event;
      const offset = type === 'text' ? this.#offset : this.#reasoning;
      if (type === 'text') this.#offset += text.length;
      else this.#reasoning += text.length;
      return type === 'text'
        ? { type, offset, text, ...more }
        : { type, offset, at, text, ...more };
    }
    if (event.type !== 'toolCall') return null;
    return { type: 'tool', index: this.#tools++, at, toolCall: event.toolCall };
  }
}

/** The longest text of one event, which a reader holds until its client has it. */
const emittedCharsMax = 16_384;

/** A slice refers to the whole text, which would stay in memory as long as a piece of it. */
function copyOf(text: string): string {
  // V8 needs half the memory for these characters.
  const encoding = /[^\0-\xff]/.test(text) ? 'utf16le' : 'latin1';
  return Buffer.from(text, encoding).toString(encoding);
}

/** Joins neighboring texts. */
export function mergeTexts(events: readonly EmittedEvent[]): EmittedEvent[] {
  const merged: EmittedEvent[] = [];
  let texts: string[] = [];
  let usage: Usage | undefined;
  for (const [index, event] of events.entries()) {
    if (event.type === 'tool') {
      merged.push(event);
      continue;
    }
    texts.push(event.text);
    usage = event.usage ?? usage;
    if (events[index + 1]?.type === event.type) continue;
    const text = texts.join('');
    const offset = event.offset + event.text.length - text.length;
    merged.push({ ...event, offset, text, ...(usage && { usage }) });
    texts = [];
    usage = undefined;
  }
  return merged;
}

/** What a reader at this position has not seen of an event, at most one piece; null if it has seen all of it. */
export function unseen(
  event: EmittedEvent,
  position: StreamPosition,
): { readonly event: EmittedEvent; readonly position: StreamPosition } | null {
  if (event.type === 'tool') {
    const { index, at } = event;
    const isSeen = position.tools === null ? at < position.offset : index < position.tools;
    return isSeen ? null : { event, position: { ...position, tools: index + 1 } };
  }
  const { type, offset, text } = event;
  const end = offset + text.length;
  if (type === 'reasoning' && position.reasoning === null && event.at < position.offset)
    return null;
  const seen = type === 'text' ? position.offset : (position.reasoning ?? 0);
  if (end <= seen) return null;
  const from = Math.max(offset, seen);
  const to = offset + pieceEnd(text, from - offset, emittedCharsMax);
  return {
    event: { ...readable(event), offset: from, text: text.slice(from - offset, to - offset) },
    position: { ...position, [type === 'text' ? 'offset' : 'reasoning']: to },
  };
}

/** Readers get the usage at the end. */
function readable<Event extends EmittedEvent>(event: Event): Event {
  const { usage: _, ...others } = event as Event & { readonly usage?: Usage };
  return others as Event;
}
