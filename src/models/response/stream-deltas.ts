import { wordSet } from '../../core/words.ts';
import { type Fields, fieldsOf, listOf } from './join-events.ts';
import { partsOf, textOf } from './repair-response.ts';

/** A piece of text or reasoning in an event of a stream. */
export interface Delta {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

/** What an event adds, in the stream of any API. */
export function deltasOf(event: Fields): Delta[] {
  const { type, choices, candidates, message, contentBlockDelta } = event;
  const found =
    typeof type === 'string'
      ? typedDeltas(type, event.delta)
      : choices
        ? chatDeltas(fieldsOf(listOf(choices)[0]?.delta))
        : candidates
          ? listOf(fieldsOf(listOf(candidates)[0]?.content).parts).map(partDelta)
          : contentBlockDelta
            ? conversationDeltas(fieldsOf(fieldsOf(contentBlockDelta).delta))
            : ollamaDeltas(fieldsOf(message));
  return found.filter(({ text }) => text !== '');
}

/** The usage in an event: Anthropic begins with that of the input, and some servers repeat it in each event. */
export function usageIn(event: Fields): Fields | null {
  const { usage, usageMetadata, message, response, metadata } = event;
  const places = [usage, usageMetadata, ...[message, response, metadata].map(usageOf)];
  return (places.find((place) => typeof place === 'object' && place !== null) as Fields) ?? null;
}

function usageOf(value: unknown): unknown {
  return fieldsOf(value).usage;
}

/** Whether a model that sent this event has begun to answer, be it with a call of a tool. */
export function hasBegun(event: Fields): boolean {
  const { type, choices, candidates, message, contentBlockStart } = event;
  if (typeof type === 'string') return !announcements.has(type);
  const calls = [
    fieldsOf(listOf(choices)[0]?.delta).tool_calls,
    fieldsOf(listOf(candidates)[0]?.content).parts,
    fieldsOf(message).tool_calls,
  ];
  return Boolean(contentBlockStart) || calls.some(Boolean) || deltasOf(event).length > 0;
}

/** Events of the Responses API and Anthropic that precede an answer or come instead of it. */
const announcements = wordSet(`
  response.created response.queued response.in_progress response.failed message_start ping error
`);

const textual = (value: unknown) => (typeof value === 'string' ? value : '');
const text = (value: unknown): Delta => ({ kind: 'text', text: textual(value) });
const reasoning = (value: unknown): Delta => ({ kind: 'reasoning', text: textual(value) });

/** The Responses API and Anthropic. */
function typedDeltas(type: string, delta: unknown): Delta[] {
  if (type === 'response.output_text.delta') return [text(delta)];
  if (/^response\.reasoning(_summary)?_text\.delta$/.test(type)) return [reasoning(delta)];
  if (type !== 'content_block_delta') return [];
  const { type: kind, text: given, thinking } = fieldsOf(delta);
  return kind === 'text_delta' ? [text(given)] : [reasoning(thinking)];
}

function chatDeltas(delta: Fields): Delta[] {
  const { content, reasoning_content, reasoning: given, reasoning_details } = delta;
  const parts = typeof content === 'string' ? [{ text: content, isReasoning: false }] : null;
  return [
    reasoning(textOf(reasoning_content ?? given ?? reasoning_details)),
    ...(parts ?? partsOf(content)).map(
      (part): Delta => ({
        kind: part.isReasoning ? 'reasoning' : 'text',
        text: part.text,
      }),
    ),
  ];
}

function partDelta({ text: given, thought }: Fields): Delta {
  return thought === true ? reasoning(given) : text(given);
}

function conversationDeltas({ text: given, reasoningContent }: Fields): Delta[] {
  return [text(given), reasoning(fieldsOf(reasoningContent).text)];
}

function ollamaDeltas({ content, thinking }: Fields): Delta[] {
  return [reasoning(thinking), text(content)];
}
