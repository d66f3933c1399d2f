import { wordSet } from '../../core/words.ts';
import { UnreadableResponse } from '../failure/unreadable-response.ts';

/**
 * Repairs responses that the AI SDK rejects although their text can be read. Servers that claim to be compatible with
 * OpenAI differ in every field, so a chat completion is rewritten; of any other response, the fields to which the
 * SDK's schema objects are converted, or removed.
 */

type Fields = Record<string, unknown>;

/** A chat completion as the AI SDK expects it. Any other value is returned as it is. Throws if its choice says nothing. */
export function repairCompletion(body: unknown): unknown {
  const { choices, choice, ...rest } = fieldsOf(body);
  // An empty list is a response without content, which is no reason to discard its usage.
  const isEmpty = Array.isArray(choices) && choices.length === 0;
  const [first] = isEmpty ? [{ finish_reason: 'stop' }] : choicesIn(choices ?? choice);
  if (typeof first !== 'object' || first === null) return body;
  const isError = Boolean(rest.error || (first as Fields).error);
  if (!isError && saysNothing(first as Fields)) throw new UnreadableResponse('choices[0].message');
  const completion: Fields = { ...rest, choices: [repairChoice(first as Fields)] };
  for (const name of ['id', 'model']) {
    if (typeof completion[name] === 'number') completion[name] = String(completion[name]);
    if (typeof completion[name] !== 'string') delete completion[name];
  }
  delete completion.created;
  const { usage } = rest;
  delete completion.usage;
  if (isFields(usage)) completion.usage = withNumbers(usage);
  return completion;
}

/** A list of choices, one choice, or choices by their index. */
function choicesIn(value: unknown): unknown[] {
  if (!isFields(value)) return Array.isArray(value) ? value : [];
  const names = Object.keys(value);
  if (names.length === 0) throw new UnreadableResponse('choices');
  return names.every((name) => /^\d+$/.test(name)) ? Object.values(value) : [value];
}

function saysNothing({ message, delta, text, finish_reason: reason }: Fields): boolean {
  return (message ?? delta ?? text ?? reason ?? null) === null;
}

function repairChoice(choice: Fields): Fields {
  const { message, delta, text, finish_reason: reason, logprobs: _, ...rest } = choice;
  const whole = message ?? delta ?? text;
  const fields = isFields(whole) ? whole : { content: whole };
  const finish = reasonOf(reason);
  return {
    ...rest,
    index: 0,
    message: repairMessage(fields),
    ...(finish && { finish_reason: finish }),
  };
}

/** A number means something else at each server. */
function reasonOf(reason: unknown): string | null {
  if (typeof reason === 'string') return reason;
  const { type, reason: inner, name } = fieldsOf(reason);
  return [type, inner, name].find((each) => typeof each === 'string') ?? null;
}

function repairMessage(message: Fields): Fields {
  const { content, refusal, reasoning, reasoning_content, tool_calls: calls, ...rest } = message;
  delete rest.annotations;
  const repaired: Fields = { ...rest, role: 'assistant' };
  const read = partsOf(content);
  const isText = read.some(({ text }) => text !== '') || !isData(content);
  const parts = isText ? read : [{ text: JSON.stringify(content), isReasoning: false }];
  repaired.content = parts
    .filter(({ isReasoning }) => !isReasoning)
    .map(({ text }) => text)
    .join('');
  // Under its own name, it is sent back in the next turn.
  if (typeof reasoning === 'string') repaired.reasoning = reasoning;
  const thoughts = [
    textOf(reasoning_content ?? reasoning),
    ...parts.filter(({ isReasoning }) => isReasoning).map(({ text }) => text),
  ];
  const isOwnName = typeof reasoning === 'string' && (reasoning_content ?? null) === null;
  if (!isOwnName || thoughts.join('') !== reasoning) repaired.reasoning_content = thoughts.join('');
  if (refusal) repaired.refusal = textOf(refusal);
  const toolCalls = [calls ?? []].flat().flatMap(toolCallOf);
  if (toolCalls.length > 0) repaired.tool_calls = toolCalls;
  return repaired;
}

/** Whether a content without a text may be an answer in JSON that was not written as a text. */
function isData(content: unknown): boolean {
  return (
    isFields(content) &&
    Object.keys(content).some((name) => !partFields.has(name)) &&
    !('type' in content)
  );
}

const partFields = wordSet('text content value thinking reasoning summary annotations parts');

export interface Part {
  readonly text: string;
  readonly isReasoning: boolean;
}

/** The parts of a content: a text, a part, or a list of either. */
export function partsOf(content: unknown): Part[] {
  return [content ?? []].flat().map((part) => {
    const { type, thinking, reasoning, thought } = fieldsOf(part);
    const isReasoning = /^(thinking|reasoning|thought)/.test(String(type)) || thought === true;
    return { text: textOf(isReasoning ? (thinking ?? reasoning ?? part) : part), isReasoning };
  });
}

const depthMax = 6;

/** The text of a value: of a text, of a part with a text, of a list of them. */
export function textOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    return depth > depthMax ? '' : value.map((each) => textOf(each, depth + 1)).join('');
  }
  const { text, content, value: inner, thinking, reasoning, summary } = fieldsOf(value);
  const nested = [text, content, inner, thinking, reasoning, summary].find((each) => each != null);
  return nested === undefined || depth > depthMax ? '' : textOf(nested, depth + 1);
}

function toolCallOf(call: unknown): Fields[] {
  const { id, function: called, ...extras } = fieldsOf(call);
  const { name, arguments: given, ...others } = fieldsOf(called);
  if (typeof name !== 'string') return [];
  const input = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  const repaired = { ...others, name, arguments: input };
  return [{ ...extras, id: String(id ?? ''), type: 'function', function: repaired }];
}

/** The counts of a usage as numbers. What is no number is unknown. */
function withNumbers(usage: Fields): Fields {
  const numbers: Fields = {};
  for (const [name, value] of Object.entries(usage)) {
    if (typeof value === 'number') numbers[name] = value;
    else if (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
      numbers[name] = Number(value);
    else if (isFields(value)) numbers[name] = withNumbers(value);
  }
  return numbers;
}

/** An objection of the AI SDK's schema, as its validation library reports it. */
export interface Issue {
  readonly code: string;
  readonly path: readonly (string | number)[];
  readonly expected?: string;
  readonly values?: readonly unknown[];
  /** Of a union, the objections of each alternative; their paths begin at the union. */
  readonly errors?: readonly (readonly Issue[])[];
}

/**
 * Converts or removes the fields to which the schema objects, in place. Returns the paths of those whose value could
 * not be kept.
 */
export function repairFields(body: unknown, issues: readonly Issue[]): string[] {
  // Backwards, so that removing an item of a list does not move those still to be repaired.
  return issues
    .toReversed()
    .flatMap((issue) => repairField(body, issue))
    .map(pathText);
}

type Path = readonly (string | number)[];

function repairField(body: unknown, issue: Issue): Path[] {
  const { code, path, expected, values, errors = [] } = issue;
  const name = path.at(-1);
  const parent = path.slice(0, -1).reduce((value, key) => fieldsOf(value)[key], body);
  if (name === undefined || !isFieldsOrList(parent)) return [path];
  const value = parent[name];
  // A part of an unknown type: what is objected to is its `type`, so the part itself is removed.
  if (code === 'invalid_union' && errors.length === 0 && path.length > 1) {
    return repairField(body, { code: 'unknown_type', path: path.slice(0, -1) });
  }
  if (code === 'invalid_union' && !Array.isArray(parent)) {
    const fewest = errors.toSorted((a, b) => a.length - b.length)[0] ?? [];
    if (fewest.length > 0) {
      return fewest.flatMap((one) => repairField(body, { ...one, path: [...path, ...one.path] }));
    }
  }
  if (values?.length) {
    parent[name] = values[0];
    return [];
  }
  const converted = convert(value, expected, name);
  if (converted !== undefined) {
    parent[name] = converted;
    return [];
  }
  // What is missing gets an empty value, which counts as lost; what is wrong is removed, which may make it missing.
  if (value === undefined) parent[name] = emptyValues.get(expected ?? '');
  else if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete parent[name];
  return [path];
}

const emptyValues: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['string', ''],
  ['number', 0],
  ['boolean', false],
  ['array', []],
  ['object', {}],
]);

function convert(value: unknown, expected: string | undefined, name: string | number): unknown {
  if (value === undefined || value === null) return undefined;
  if (expected === 'string') return textOf(value) || undefined;
  if (expected === 'array') {
    // Anthropic's list of parts, written as its only text.
    const isPart = name === 'content' && typeof value === 'string';
    return isPart ? [{ type: 'text', text: value }] : isFields(value) ? [value] : undefined;
  }
  const isCount = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value);
  return expected === 'number' && isCount ? Number(value) : undefined;
}

function pathText(path: Path): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return text.replace(/^\./, '');
}

function isFieldsOrList(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isFields(value: unknown): value is Fields {
  return isFieldsOrList(value) && !Array.isArray(value);
}

function fieldsOf(value: unknown): Fields {
  return isFieldsOrList(value) ? value : {};
}
