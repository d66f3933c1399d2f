import type { Execution } from '../../core/execution/execution-fields.ts';
import type { ExecutionStreamEvent } from '../../engine/stream/read-stream.ts';
import type { SentEvent } from '../../http/response/event-stream.ts';
import {
  mayReadReasoning,
  messageItem,
  outputItems,
  outputText,
  reasoningItem,
  responseWire,
  type ShownCall,
  statusOf,
  summaryText,
} from './response-wire.ts';
import { restartedError, ShownText } from './shown-text.ts';

/**
 * A response as a stream of events. The sequence numbers follow from the text, so a stream can be continued in any process
 * and whatever its chunks were:
 *
 *     0, 1             the response begins
 *     2, 3             its message begins
 *     3 + n            a delta that ends after n UTF-16 units of text
 *     after the text   message and response end
 *
 * To a key that may read it, reasoning that precedes the text is an item with these numbers, and everything that follows it adds
 * 2²⁴. Reasoning after the beginning of the text is only in the item at the end: its place in the record is not known.
 *
 * From 2 on, each further attempt adds 2³², because a client that continues has the text of one attempt. The end of a failed
 * response is sent even to a client that has it.
 */
export interface ResponseStream {
  /** Its identifier in the database. */
  readonly executionId: string;
  /** The response at the beginning. Called once: it is not kept until the end. */
  readonly begin: () => object;
  /** Called once the client has that. */
  readonly onBegun?: () => void;
  readonly shown: ShownCall;
  /** From the beginning of the text. */
  readonly events: AsyncIterable<ExecutionStreamEvent>;
  /** The last sequence number that the client has; -1 for none. */
  readonly after: number;
  readonly onEnd?: () => void;
}

export async function* responseEvents(
  stream: ResponseStream,
): AsyncGenerator<SentEvent, void, undefined> {
  for await (const data of numberedEvents(stream)) {
    const event = unsent(data, stream.after);
    if (event) yield { event: event.type, data: event };
  }
}

/** What the client does not have of an event. */
function unsent(event: NumberedEvent, after: number): NumberedEvent | null {
  const { sequence_number: number, delta } = event;
  if (number <= after) return null;
  const isText = [deltaTypes.text, deltaTypes.reasoning].includes(event.type);
  if (!isText || number - after >= String(delta).length) return event;
  return { ...event, delta: String(delta).slice(after - number) };
}

const deltaTypes = {
  text: 'response.output_text.delta',
  reasoning: 'response.reasoning_summary_text.delta',
};

interface NumberedEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

const firstOfMessage = 2;
const beforeText = 3;
const perAttempt = 2 ** 32;
const perReasoning = 2 ** 24;

function baseOf(attempt: number): number {
  return Math.max(0, attempt - 1) * perAttempt;
}

async function* numberedEvents(stream: ResponseStream): AsyncGenerator<NumberedEvent> {
  const { executionId, begin, shown, events, after, onEnd = () => {} } = stream;
  yield* responseBegin(begin);
  stream.onBegun?.();
  const text = new ShownText();
  const reasoning = mayReadReasoning(shown.caller) ? new ShownReasoning(executionId) : null;
  let attemptBase = 0;
  for await (const event of events) {
    if (event.type === 'restart') {
      text.restart();
      reasoning?.restart();
    }
    if ('attempt' in event) attemptBase = baseOf(event.attempt);
    if (event.type === 'end') {
      attemptBase = Math.max(attemptBase, baseOf(event.execution.lastClaim ?? 1));
    }
    if (event.type === 'reasoning' && text.length === 0) {
      yield* reasoning?.deltas(event, attemptBase) ?? [];
    }
    const base = attemptBase + (reasoning?.isShown ? perReasoning : 0);
    const isBegin = event.type === 'text' && text.length === 0;
    const delta = event.type === 'text' ? text.add(event) : '';
    const hasFailed = event.type === 'end' && event.execution.status !== 'success';
    const isVoid = event.type === 'end' && text.isShorter;
    if (delta === null || (!hasFailed && (isVoid || isOfEarlierAttempt(after, attemptBase)))) {
      onEnd();
      const sequence_number = Math.max(after, base + beforeText + text.length) + 1;
      yield { type: 'error', sequence_number, ...restartedError, param: null };
      return;
    }
    const place: Place = { executionId, index: reasoning?.isShown ? 1 : 0, base };
    if (isBegin) yield* messageBegin(place);
    if (delta !== '') yield deltaEvent(place, delta, text.length);
    if (event.type !== 'end') continue;
    onEnd();
    yield* endEvents(event.execution, shown, { place, length: text.length, after });
  }
}

/** Where the message of a response is. */
interface Place {
  readonly executionId: string;
  /** In its output. */
  readonly index: number;
  readonly base: number;
}

/** The item of the reasoning that precedes the text. */
class ShownReasoning {
  readonly #executionId: string;
  readonly #shown = new ShownText();
  /** Whether another attempt has other reasoning than was shown, which cannot be taken back. */
  #isVoid = false;

  constructor(executionId: string) {
    this.#executionId = executionId;
  }

  get isShown(): boolean {
    return this.#shown.length > 0;
  }

  restart(): void {
    this.#shown.restart();
  }

  *deltas(event: { readonly text: string }, base: number): Generator<NumberedEvent> {
    const isBegin = !this.isShown;
    const delta = this.#isVoid ? null : this.#shown.add(event);
    this.#isVoid = delta === null;
    const number = base + beforeText + Math.min(this.#shown.length, perReasoning - perBegin);
    const item = reasoningItem(this.#executionId, 'in_progress');
    if (delta && isBegin) yield* reasoningBegin(item, base + firstOfMessage);
    if (!delta) return;
    yield {
      ...{ type: deltaTypes.reasoning, sequence_number: number },
      ...{ item_id: item.id, output_index: 0, summary_index: 0, delta },
    };
  }
}

/** The numbers before a text. */
const perBegin = 4;

function* reasoningBegin(item: { readonly id: string }, number: number): Generator<NumberedEvent> {
  const output_index = 0;
  yield {
    ...{ type: 'response.output_item.added', sequence_number: number },
    ...{ output_index, item },
  };
  yield {
    ...{ type: 'response.reasoning_summary_part.added', sequence_number: number + 1 },
    ...{ item_id: item.id, output_index, summary_index: 0, part: summaryText('') },
  };
}

/** Whether the client has text of an attempt before this one. */
function isOfEarlierAttempt(after: number, base: number): boolean {
  return after > beforeText && Math.floor(after / perAttempt) * perAttempt < base;
}

/** The response of an execution as it was at the beginning, for one call. */
export function beginning(row: Execution, shown: ShownCall): () => object {
  const begun = { ...row, status: 'processing' as const, output: null, completedAt: null };
  let response: object | null = { ...responseWire(begun, shown), ...notYet };
  return () => {
    const once = response ?? {};
    response = null;
    return once;
  };
}

function* responseBegin(begin: () => object): Generator<NumberedEvent> {
  const response = begin();
  yield { type: 'response.created', sequence_number: 0, response };
  yield { type: 'response.in_progress', sequence_number: 1, response };
}

/** While it is in progress, whatever the record says by now. */
const notYet = {
  status: 'in_progress',
  output: [],
  usage: null,
  error: null,
  incomplete_details: null,
};

function* messageBegin({ executionId, index, base }: Place): Generator<NumberedEvent> {
  const item = messageItem(executionId, 'in_progress');
  yield {
    ...{ type: 'response.output_item.added', sequence_number: base + firstOfMessage },
    ...{ output_index: index, item },
  };
  yield {
    ...{ type: 'response.content_part.added', sequence_number: base + firstOfMessage + 1 },
    ...{ item_id: item.id, output_index: index, content_index: 0, part: outputText('') },
  };
}

function deltaEvent({ executionId, index, base }: Place, delta: string, length: number) {
  const { id } = messageItem(executionId, 'in_progress');
  return {
    ...{ type: deltaTypes.text, sequence_number: base + beforeText + length },
    ...{ item_id: id, output_index: index, content_index: 0, delta, logprobs: [] },
  };
}

const endTypes: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
};

interface Ended {
  readonly place: Place;
  /** Of the text that was sent. */
  readonly length: number;
  readonly after: number;
}

/** Ends the items that have begun, lists the others and ends the response. */
function* endEvents(
  execution: Execution,
  shown: ShownCall,
  { place, length, after }: Ended,
): Generator<NumberedEvent> {
  const response = responseWire(execution, shown);
  const items = inSentOrder(outputItems(execution, shown.caller), place, length > 0);
  const messageIndex = items.findIndex(({ type }) => type === 'message');
  const hasMessage = messageIndex >= 0;
  if (hasMessage && length === 0) yield* messageBegin({ ...place, index: messageIndex });
  let number = place.base + (hasMessage || length > 0 ? beforeText + length : 1);
  const numbered: Numbered = (type, fields) => ({
    type,
    sequence_number: ++number,
    ...fields,
  });
  for (const [output_index, item] of items.entries()) {
    const isBegun = output_index < place.index;
    yield* itemEnd(item, { item_id: item.id, output_index }, isBegun, numbered);
    yield numbered('response.output_item.done', { output_index, item });
  }
  const type = endTypes[statusOf(execution)] ?? 'response.failed';
  // A record of a failure has no text, so a client may have more events than follow from the record.
  if (type === 'response.failed') number = Math.max(number, after);
  yield numbered(type, { response });
}

type Item = Record<string, unknown>;

/** What was sent keeps its place: reasoning that no record has, and a message before reasoning that comes only now. */
function inSentOrder(
  output: readonly Item[],
  { executionId, index }: Place,
  hasText: boolean,
): readonly Item[] {
  const isLost = index > 0 && output[0]?.type !== 'reasoning';
  const items = isLost ? [reasoningItem(executionId, 'completed'), ...output] : output;
  const at = items.findIndex(({ type }) => type === 'message');
  if (!hasText || at <= index) return items;
  return items.toSpliced(at, 1).toSpliced(index, 0, items[at] as Item);
}

function* itemEnd(
  item: Item,
  place: { readonly item_id: unknown; readonly output_index: number },
  isBegun: boolean,
  numbered: Numbered,
): Generator<NumberedEvent> {
  const { output_index } = place;
  if (item.type === 'message') {
    for (const [content_index, part] of (item.content as { type: string }[]).entries()) {
      yield* partEnd(part, { ...place, content_index }, numbered);
    }
  } else if (item.type === 'reasoning') {
    yield* reasoningEnd(item, place, isBegun, numbered);
  } else {
    const started = { ...item, arguments: '', status: 'in_progress' };
    yield numbered('response.output_item.added', { output_index, item: started });
    const { arguments: text, name } = item;
    yield numbered('response.function_call_arguments.delta', { ...place, delta: text });
    yield numbered('response.function_call_arguments.done', { ...place, name, arguments: text });
  }
}

function* reasoningEnd(
  item: Item,
  place: { readonly item_id: unknown; readonly output_index: number },
  isBegun: boolean,
  numbered: Numbered,
): Generator<NumberedEvent> {
  const { output_index } = place;
  const [part] = item.summary as { text: string }[];
  if (!isBegun) {
    const started = { ...item, summary: [], status: 'in_progress' };
    yield numbered('response.output_item.added', { output_index, item: started });
  }
  if (!part) return;
  const ofPart = { ...place, summary_index: 0 };
  if (!isBegun) {
    const empty = { ...ofPart, part: summaryText('') };
    yield numbered('response.reasoning_summary_part.added', empty);
    yield numbered(deltaTypes.reasoning, { ...ofPart, delta: part.text });
  }
  yield numbered('response.reasoning_summary_text.done', { ...ofPart, text: part.text });
  yield numbered('response.reasoning_summary_part.done', { ...ofPart, part });
}

type Numbered = (type: string, fields: object) => NumberedEvent;

type Part = Readonly<{ type: string; text?: string; refusal?: string }>;

/** A refusal is sent as a whole; its text was not streamed. */
function* partEnd(
  part: Part,
  place: Readonly<{ content_index: number }>,
  numbered: Numbered,
): Generator<NumberedEvent> {
  if (part.type === 'output_text') {
    yield numbered('response.output_text.done', { ...place, text: part.text, logprobs: [] });
  } else {
    if (place.content_index > 0) {
      const empty = { type: 'refusal', refusal: '' };
      yield numbered('response.content_part.added', { ...place, part: empty });
    }
    yield numbered('response.refusal.delta', { ...place, delta: part.refusal });
    yield numbered('response.refusal.done', { ...place, refusal: part.refusal });
  }
  yield numbered('response.content_part.done', { ...place, part });
}
