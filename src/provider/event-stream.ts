/**
 * Joins the events of a streamed response into the response that the same API sends unstreamed: chat completions,
 * OpenAI's Responses API, Anthropic, Google.
 */

type Fields = Record<string, unknown>;

export function isEventStream(text: string): boolean {
  return /^(data|event|id|retry):/.test(text);
}

/** `undefined` if an event cannot be read, or if there is none: part of a response would pass for all of it. */
export function joinEvents(text: string, parse: (text: string) => unknown): unknown {
  const events: Fields[] = [];
  for (const event of text.split(/\r?\n\r?\n|\r\r/)) {
    const data = dataOf(event);
    if (data === '' || data === '[DONE]') continue;
    const value = parse(data);
    if (typeof value !== 'object' || value === null) return undefined;
    events.push(value as Fields);
  }
  const [first] = events;
  if (!first) return undefined;
  const failed = events.find(({ error }) => error);
  if (failed) return { ...first, ...failed };
  if (String(first.type).startsWith('response.')) return lastResponse(events);
  if (first.type === 'message_start') return joinMessage(events);
  if (events.some(({ candidates }) => candidates)) return joinCandidates(events);
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
    choice = { ...choice, ...withoutNulls(rest) };
    append(message, fieldsOf(whole ?? delta));
  }
  const all: Fields = Object.assign({}, ...events.map(withoutNulls));
  return { ...all, choices: [{ ...choice, message }] };
}

/** Appends the texts of a delta, and the tool calls and parts of a content by their index. */
function append(message: Fields, delta: Fields): void {
  for (const [name, value] of Object.entries(delta)) {
    const was = message[name];
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) {
      const list = (Array.isArray(was) ? was : []) as Fields[];
      for (const item of value) appendItem(list, fieldsOf(item));
      message[name] = list;
    } else if (typeof value === 'object') {
      const inner = fieldsOf(was);
      append(inner, value as Fields);
      message[name] = inner;
    } else {
      const isText = typeof was === 'string' && typeof value === 'string' && !fixed.has(name);
      message[name] = isText ? was + value : value;
    }
  }
}

/** Texts that are repeated, not continued. */
const fixed: ReadonlySet<string> = new Set(['role', 'type', 'id', 'name']);

function appendItem(list: Fields[], item: Fields): void {
  const same = list.find(({ index }) => index !== undefined && index === item.index);
  if (same) append(same, item);
  else list.push(structuredClone(item));
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
    message.usage = { ...fieldsOf(message.usage), ...withoutNulls(fieldsOf(event.usage)) };
  }
  return { ...message, content: [...content.values()].map(withInput) };
}

function appendToBlock(block: Fields, { type: _, partial_json: json, ...delta }: Fields): void {
  if (json !== undefined) block.json = `${block.json ?? ''}${json}`;
  append(block, delta);
}

/** The input of a tool call is streamed as pieces of JSON. */
function withInput({ json, ...block }: Fields): Fields {
  if (json === undefined) return block;
  try {
    return { ...block, input: JSON.parse(String(json)) };
  } catch {
    return block;
  }
}

function joinCandidates(events: readonly Fields[]): Fields {
  const parts: unknown[] = [];
  let candidate: Fields = {};
  for (const event of events) {
    const [one] = listOf(event.candidates);
    if (!one) continue;
    candidate = { ...candidate, ...withoutNulls(one) };
    parts.push(...listOf(fieldsOf(one.content).parts));
  }
  const all: Fields = Object.assign({}, ...events);
  return { ...all, candidates: [{ ...candidate, content: { role: 'model', parts } }] };
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
