import type { FastifyReply } from 'fastify';
import type { ExecutionDetailRow } from '../../../store/execution/executions.ts';
import { sendEvents } from '../../http/event-stream.ts';
import type { AgentCall } from './call-agent.ts';
import {
  messageItem,
  outputItems,
  outputText,
  responseWire,
  type ShownCall,
  statusOf,
} from './response-wire.ts';
import { restartedError, ShownText, type StreamEvent } from './shown-text.ts';

/**
 * A response as a stream of events. The sequence numbers follow from the text, so a stream can be continued in any process
 * and whatever its chunks were: 0 and 1 begin the response, 2 and 3 its message, 3 + n is a delta that ends after n UTF-16
 * units of text, and the numbers after that end what was begun.
 */
export async function sendResponseStream(
  agentCall: AgentCall,
  shown: ShownCall,
  reply: FastifyReply,
): Promise<void> {
  const row = await agentCall.read();
  await sendEvents(reply, eventTexts({ row, shown, events: agentCall.events(), after: -1 }));
}

export interface ResponseStream {
  /** The execution at the beginning. */
  readonly row: ExecutionDetailRow;
  readonly shown: ShownCall;
  /** From the beginning of the text. */
  readonly events: AsyncIterable<StreamEvent>;
  /** The last sequence number that the client has. */
  readonly after: number;
}

export async function* eventTexts(stream: ResponseStream): AsyncGenerator<string> {
  for await (const event of numberedEvents(stream)) {
    if (event.sequence_number > stream.after) {
      yield `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    }
  }
}

interface NumberedEvent {
  readonly type: string;
  readonly sequence_number: number;
}

const firstOfMessage = 2;
const beforeText = 3;

async function* numberedEvents({
  row,
  shown,
  events,
  after,
}: ResponseStream): AsyncGenerator<NumberedEvent> {
  const begun = { ...row, status: 'processing' as const, output: null, completedAt: null };
  const response = { ...responseWire(begun, shown), ...notYet };
  yield { type: 'response.created', sequence_number: 0, response } as NumberedEvent;
  yield { type: 'response.in_progress', sequence_number: 1, response } as NumberedEvent;
  const text = new ShownText(Math.max(0, after - beforeText));
  for await (const event of events) {
    if (event.type === 'restart') text.restart();
    else if (event.type === 'text') {
      if (text.length === 0) yield* messageBegin(row.id);
      const delta = text.add(event);
      if (delta === null) {
        const number = { sequence_number: beforeText + text.length + 1 };
        yield { type: 'error', ...number, ...restartedError, param: null } as NumberedEvent;
        return;
      }
      if (delta !== '') yield deltaEvent(row.id, delta, text.length);
    } else yield* endEvents(event.execution, shown, text.length);
  }
}

/** While it is in progress, whatever the record says by now. */
const notYet = {
  status: 'in_progress',
  output: [],
  usage: null,
  error: null,
  incomplete_details: null,
};

function* messageBegin(executionId: string): Generator<NumberedEvent> {
  const item = messageItem(executionId, 'in_progress');
  yield {
    ...{ type: 'response.output_item.added', sequence_number: firstOfMessage },
    ...{ output_index: 0, item },
  } as NumberedEvent;
  yield {
    ...{ type: 'response.content_part.added', sequence_number: firstOfMessage + 1 },
    ...{ item_id: item.id, output_index: 0, content_index: 0, part: outputText('') },
  } as NumberedEvent;
}

function deltaEvent(executionId: string, delta: string, length: number): NumberedEvent {
  const { id } = messageItem(executionId, 'in_progress');
  return {
    ...{ type: 'response.output_text.delta', sequence_number: beforeText + length },
    ...{ item_id: id, output_index: 0, content_index: 0, delta, logprobs: [] },
  } as NumberedEvent;
}

const endTypes: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
};

/** Ends the message, lists the calls of functions and ends the response. */
function* endEvents(
  execution: ExecutionDetailRow,
  shown: ShownCall,
  shownLength: number,
): Generator<NumberedEvent> {
  const response = responseWire(execution, shown);
  const items = outputItems(execution);
  const hasMessage = items[0]?.type === 'message';
  if (hasMessage && shownLength === 0) yield* messageBegin(execution.id);
  let number = hasMessage || shownLength > 0 ? beforeText + shownLength : 1;
  const numbered = (type: string, fields: object) =>
    ({ type, sequence_number: ++number, ...fields }) as NumberedEvent;
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
  yield numbered(endTypes[statusOf(execution)] ?? 'response.failed', { response });
}

type Part = Readonly<{ type: string; text?: string; refusal?: string }>;

/** A refusal is sent as a whole; its text was not streamed. */
function* partEnd(
  part: Part,
  place: Readonly<{ content_index: number }>,
  numbered: (type: string, fields: object) => NumberedEvent,
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
