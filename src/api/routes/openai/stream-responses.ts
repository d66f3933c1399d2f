import type { Execution } from '../../../core/execution/execution-fields.ts';
import type { ExecutionStreamEvent } from '../../../flow/execution/read-stream.ts';
import type { SentEvent } from '../../http/response/event-stream.ts';
import {
  messageItem,
  outputItems,
  outputText,
  responseWire,
  type ShownCall,
  statusOf,
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
  const isText = event.type === 'response.output_text.delta';
  if (!isText || number - after >= String(delta).length) return event;
  return { ...event, delta: String(delta).slice(after - number) };
}

interface NumberedEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

const firstOfMessage = 2;
const beforeText = 3;
const perAttempt = 2 ** 32;

function baseOf(attempt: number): number {
  return Math.max(0, attempt - 1) * perAttempt;
}

async function* numberedEvents(stream: ResponseStream): AsyncGenerator<NumberedEvent> {
  const { executionId, begin, shown, events, after, onEnd = () => {} } = stream;
  yield* responseBegin(begin);
  stream.onBegun?.();
  const text = new ShownText();
  let base = 0;
  for await (const event of events) {
    if (event.type === 'restart') text.restart();
    if (event.type === 'text' || event.type === 'restart') base = baseOf(event.attempt);
    if (event.type === 'end') base = Math.max(base, baseOf(event.execution.lastClaim ?? 1));
    const isBegin = event.type === 'text' && text.length === 0;
    const delta = event.type === 'text' ? text.add(event) : '';
    const hasFailed = event.type === 'end' && event.execution.status !== 'success';
    const isVoid = event.type === 'end' && text.isShorter;
    if (delta === null || (!hasFailed && (isVoid || isOfEarlierAttempt(after, base)))) {
      onEnd();
      const sequence_number = Math.max(after, base + beforeText + text.length) + 1;
      yield { type: 'error', sequence_number, ...restartedError, param: null };
      return;
    }
    if (isBegin) yield* messageBegin(executionId, base);
    if (delta !== '') yield deltaEvent(executionId, delta, base + text.length);
    if (event.type !== 'end') continue;
    onEnd();
    yield* endEvents(event.execution, shown, { base, length: text.length, after });
  }
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

function* messageBegin(executionId: string, base: number): Generator<NumberedEvent> {
  const item = messageItem(executionId, 'in_progress');
  yield {
    ...{ type: 'response.output_item.added', sequence_number: base + firstOfMessage },
    ...{ output_index: 0, item },
  };
  yield {
    ...{ type: 'response.content_part.added', sequence_number: base + firstOfMessage + 1 },
    ...{ item_id: item.id, output_index: 0, content_index: 0, part: outputText('') },
  };
}

function deltaEvent(executionId: string, delta: string, length: number): NumberedEvent {
  const { id } = messageItem(executionId, 'in_progress');
  return {
    ...{ type: 'response.output_text.delta', sequence_number: beforeText + length },
    ...{ item_id: id, output_index: 0, content_index: 0, delta, logprobs: [] },
  };
}

const endTypes: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
};

interface Ended {
  readonly base: number;
  /** Of the text that was sent. */
  readonly length: number;
  readonly after: number;
}

/** Ends the message, lists the calls of functions and ends the response. */
function* endEvents(
  execution: Execution,
  shown: ShownCall,
  { base, length, after }: Ended,
): Generator<NumberedEvent> {
  const response = responseWire(execution, shown);
  const items = outputItems(execution);
  const hasMessage = items[0]?.type === 'message';
  if (hasMessage && length === 0) yield* messageBegin(execution.id, base);
  let number = base + (hasMessage || length > 0 ? beforeText + length : 1);
  const numbered: Numbered = (type, fields) => ({
    type,
    sequence_number: ++number,
    ...fields,
  });
  for (const [output_index, item] of items.entries()) {
    const place = { item_id: item.id, output_index };
    if (item.type === 'message') {
      for (const [content_index, part] of (item.content as { type: string }[]).entries()) {
        yield* partEnd(part, { ...place, content_index }, numbered);
      }
    } else {
      const started = { ...item, arguments: '', status: 'in_progress' };
      yield numbered('response.output_item.added', { output_index, item: started });
      const { arguments: text, name } = item;
      yield numbered('response.function_call_arguments.delta', { ...place, delta: text });
      yield numbered('response.function_call_arguments.done', { ...place, name, arguments: text });
    }
    yield numbered('response.output_item.done', { output_index, item });
  }
  const type = endTypes[statusOf(execution)] ?? 'response.failed';
  // A record of a failure has no text, so a client may have more events than follow from the record.
  if (type === 'response.failed') number = Math.max(number, after);
  yield numbered(type, { response });
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
