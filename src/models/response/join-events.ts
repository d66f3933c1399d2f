import { wordSet } from '../../core/words.ts';
/**
 * Joins the events of a streamed response into the response that the same API sends unstreamed: chat completions,
 * OpenAI's Responses API, Anthropic, Google, Bedrock.
 */

export type Fields = Record<string, unknown>;

export function isEventStream(text: string): boolean {
  return /^(data|event|id|retry):/.test(text);
}

/**
 * `undefined` if an event cannot be read, if there is none, or if the last ones are missing: part of a response would
 * pass for all of it.
 */
export function joinEvents(text: string, parse: (text: string) => unknown): unknown {
  const events: Fields[] = [];
  let isDone = false;
  for (const event of text.split(/\r?\n\r?\n|\r\r/)) {
    const data = dataOf(event);
    if (data === '[DONE]') isDone = true;
    if (data === '' || data === '[DONE]') continue;
    const value = parse(data);
    if (typeof value !== 'object' || value === null) return undefined;
    events.push(value as Fields);
  }
  const isWhole = isDone || events.some((event) => event.error || isLast(event));
  return isWhole ? joinParsed(events) : undefined;
}

/** Whether a stream with this event is complete, except for its usage. */
export function isLast(event: Fields): boolean {
  const { type, delta, promptFeedback } = event;
  if (typeof type === 'string') {
    if (type === 'message_delta') return Boolean(fieldsOf(delta).stop_reason);
    return lastTypes.has(type);
  }
  const [choice] = listOf(event.choices);
  const [candidate] = listOf(event.candidates);
  const { blockReason } = fieldsOf(promptFeedback);
  const reasons = [choice?.finish_reason, candidate?.finishReason, blockReason];
  return reasons.some(isGiven) || 'messageStop' in event;
}

const lastTypes = wordSet(`
  message_stop response.completed response.incomplete response.failed response.cancelled
`);

export function joinParsed(events: readonly Fields[]): unknown {
  const [first] = events;
  if (!first) return undefined;
  const failed = events.find(({ error }) => error);
  if (failed) return { ...first, ...failed };
  if (String(first.type).startsWith('response.')) return lastResponse(events);
  if (first.type === 'message_start') return joinMessage(events);
  if (events.some(({ candidates, promptFeedback }) => candidates ?? promptFeedback)) {
    return joinCandidates(events);
  }
  if ('messageStart' in first) return joinConversation(events);
  // A server that streams may send the whole response as its only event.
  return joinCompletion(events);
}

function dataOf(event: string): string {
  const lines = event.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data:'));
  return lines
    .map((line) => line.slice('data:'.length).replace(/^ /, ''))
    .join('\n')
    .trim();
}

function joinCompletion(events: readonly Fields[]): Fields {
  const message: Fields = {};
  let choice: Fields = {};
  for (const event of events) {
    const [part] = listOf(event.choices);
    if (!part) continue;
    const { delta, message: whole, ...rest } = part;
    choice = { ...choice, ...withoutEmpty(rest) };
    append(message, fieldsOf(whole ?? delta));
  }
  const all: Fields = Object.assign({}, ...events.map(withoutEmpty));
  return { ...all, choices: [{ ...choice, message }] };
}

/** Appends the texts of a delta, its tool calls, and the parts of a content by their index. */
function append(message: Fields, delta: Fields): void {
  for (const [name, value] of Object.entries(delta)) {
    const was = message[name];
    if (value === null || value === undefined) continue;
    if (fixed.has(name)) {
      // Some servers repeat it in each piece, empty or with another value.
      if (!isGiven(was)) message[name] = value;
    } else if (name === 'tool_calls') {
      message[name] = appendToolCalls(listOf(was), listOf([value].flat()));
    } else if (Array.isArray(value)) {
      const list = (Array.isArray(was) ? was : []) as Fields[];
      for (const item of value) appendItem(list, fieldsOf(item));
      message[name] = list;
    } else if (typeof value === 'object') {
      const inner = fieldsOf(was);
      append(inner, value as Fields);
      message[name] = inner;
    } else {
      const isText = typeof was === 'string' && typeof value === 'string';
      message[name] = isText ? was + value : value;
    }
  }
}

/** What is repeated, not continued. */
const fixed = wordSet('role type id name format thought_signature');

function appendItem(list: Fields[], item: Fields): void {
  const same = list.find(({ index }) => index !== undefined && index === item.index);
  if (same) append(same, item);
  else list.push(structuredClone(item));
}

/**
 * Appends fragments of tool calls. The index tells which call a fragment continues, as far as servers send it as they
 * should: some repeat the identifier or the name, or send the same index for each call, a new one for each fragment, or none.
 */
function appendToolCalls(calls: Fields[], fragments: readonly Fields[]): Fields[] {
  for (const fragment of fragments) {
    const { index: _, ...fields } = fragment;
    const index = indexOf(fragment);
    const continued = continuedCall(calls, fragment, index);
    const call = continued ?? { index };
    if (!continued) calls.push(call);
    append(call, fields);
    const piece = argumentsText(fragment);
    if (piece !== '') lastPieces.set(call, piece);
  }
  return calls;
}

/** The last piece of the arguments of a call. Reading the end of the text that grows would copy it each time. */
const lastPieces = new WeakMap<Fields, string>();

/** The call that a fragment continues; undefined if it begins one. */
function continuedCall(
  calls: readonly Fields[],
  fragment: Fields,
  index: number | undefined,
): Fields | undefined {
  const { id } = fragment;
  const ofIndex = index === undefined ? undefined : calls.findLast((call) => call.index === index);
  const call = ofIndex ?? calls.at(-1);
  if (!call || (ofIndex && isGiven(id) && ofIndex.id === id)) return call;
  const hasName = isGiven(fieldsOf(fragment.function).name);
  if (!isGiven(id) || (ofIndex && !isGiven(ofIndex.id))) {
    return hasName && beginsCall(call, fragment, !ofIndex) ? undefined : call;
  }
  const ofId = calls.findLast((one) => one.id === id);
  if (!ofId) return hasName ? undefined : call;
  const isRepeated = ofIndex || index === undefined || !hasName;
  return isRepeated || !beginsCall(ofId, fragment, true) ? ofId : undefined;
}

/** Whether a fragment with a name, but without an identifier of its own, begins a call after this one. */
function beginsCall(call: Fields, fragment: Fields, isNewIndex: boolean): boolean {
  const { name } = fieldsOf(call.function);
  if (isGiven(name) && name !== fieldsOf(fragment.function).name) return true;
  const piece = argumentsText(fragment);
  // In JSON, no object follows another one directly.
  const mayBegin = piece.startsWith('{') || (isNewIndex && piece === '');
  return mayBegin && (lastPieces.get(call)?.endsWith('}') ?? false);
}

/** Some servers send the arguments as an object. */
function argumentsText(call: Fields): string {
  const { arguments: given } = fieldsOf(call.function);
  return typeof given === 'object' && given !== null ? '{}' : String(given ?? '').trim();
}

/** Some servers send it as a text. */
function indexOf({ index }: Fields): number | undefined {
  const isNumber = typeof index === 'number' || (typeof index === 'string' && /^\d+$/.test(index));
  return isNumber ? Number(index) : undefined;
}

function lastResponse(events: readonly Fields[]): unknown {
  return events.findLast(({ response }) => response)?.response;
}

function joinMessage(events: readonly Fields[]): Fields {
  const message: Fields = { ...fieldsOf(events[0]?.message) };
  const content = new Map<unknown, Fields>();
  for (const event of events) {
    const { type, index } = event;
    if (type === 'content_block_start') content.set(index, { ...fieldsOf(event.content_block) });
    const block = content.get(index);
    if (type === 'content_block_delta' && block) appendToBlock(block, fieldsOf(event.delta));
    if (type !== 'message_delta') continue;
    Object.assign(message, fieldsOf(event.delta));
    message.usage = { ...fieldsOf(message.usage), ...withoutEmpty(fieldsOf(event.usage)) };
  }
  return { ...message, content: [...content.values()].map(withInput) };
}

function appendToBlock(block: Fields, { type: _, partial_json: json, ...delta }: Fields): void {
  if (json !== undefined) block.json = `${block.json ?? ''}${json}`;
  append(block, delta);
}

/** The input of a tool call is streamed as pieces of JSON. What is no JSON stays a text: without it, the call would have no arguments. */
function withInput({ json, ...block }: Fields): Fields {
  const text = String(json ?? '');
  if (text.trim() === '') return block;
  try {
    return { ...block, input: JSON.parse(text) };
  } catch {
    return { ...block, input: text };
  }
}

function joinCandidates(events: readonly Fields[]): Fields {
  const parts: unknown[] = [];
  let candidate: Fields = {};
  for (const event of events) {
    const [one] = listOf(event.candidates);
    if (!one) continue;
    candidate = { ...candidate, ...withoutEmpty(one) };
    parts.push(...listOf(fieldsOf(one.content).parts));
  }
  const all: Fields = Object.assign({}, ...events);
  return { ...all, candidates: [{ ...candidate, content: { role: 'model', parts } }] };
}

/** Bedrock names each event by its only field. */
function joinConversation(events: readonly Fields[]): Fields {
  const content = new Map<unknown, Fields>();
  let all: Fields = {};
  for (const event of events) {
    const { contentBlockStart: start, contentBlockDelta, messageStop, metadata } = event;
    const { contentBlockIndex: index, delta } = fieldsOf(contentBlockDelta ?? start);
    if (start) content.set(index, { ...fieldsOf(fieldsOf(start).start) });
    if (contentBlockDelta) {
      const block = content.get(index) ?? {};
      appendToConversation(block, fieldsOf(delta));
      content.set(index, block);
    }
    all = { ...all, ...fieldsOf(messageStop), ...fieldsOf(metadata) };
  }
  const blocks = [...content.values()].map(({ json, toolUse, ...block }) =>
    toolUse
      ? { ...block, toolUse: withInput({ ...fieldsOf(toolUse), json: json ?? '{}' }) }
      : block,
  );
  return { ...all, output: { message: { role: 'assistant', content: blocks } } };
}

function appendToConversation(block: Fields, { toolUse, reasoningContent, ...delta }: Fields) {
  if (toolUse) block.json = `${block.json ?? ''}${fieldsOf(toolUse).input ?? ''}`;
  if (reasoningContent) {
    const { redactedContent, ...reasoningText } = fieldsOf(reasoningContent);
    append(block, {
      reasoningContent:
        redactedContent === undefined
          ? { reasoningText: { text: '', ...reasoningText } }
          : { redactedContent },
    });
  }
  append(block, delta);
}

function withoutEmpty(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)));
}

/** Some servers send an empty text instead of `null`, such as for a finish reason that is not known yet. */
function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '';
}

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
