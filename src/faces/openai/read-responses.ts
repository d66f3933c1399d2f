import {
  type Conversation,
  type PromptReference,
  type SuppliedMessage,
  suppliedMessages,
} from '../../core/agent/conversation.ts';
import type { ToolCall } from '../../core/agent/messages.ts';
import type { SuppliedReasoning } from '../../core/agent/provider-message.ts';
import { readVariables } from '../../core/agent/variables.ts';
import { fromId } from '../../core/id.ts';
import { isObject } from '../../core/is-object.ts';
import { compact, members } from '../../core/json.ts';
import type { CallRequest } from './call-request.ts';
import { createResponse } from './openai.ts';
import {
  flagOf,
  type Harmless,
  harmlessCacheOptions,
  invalidValue,
  missing,
  objectOf,
  type Parameters,
  readArguments,
  readCallerLabels,
  readContent,
  readFormat,
  readToolChoice,
  readTools,
  readUserContent,
  requireHarmless,
  requireKnown,
  textOf,
  unsupported,
} from './read-parameters.ts';
import { isReasoningId } from './response-wire.ts';

/** Reads a request of the Responses API. */

const known = Object.keys(createResponse.body.properties);

const harmless: Harmless = {
  previous_response_id: [],
  conversation: [],
  truncation: ['disabled'],
  top_logprobs: [0],
  access_programs: [{ cyber: ['standard'] }],
  context_management: [[]],
  image: [{ context_compression: ['auto', 'disabled'] }],
  moderation: [],
  prompt_cache_options: harmlessCacheOptions,
};

/** @param items those that the input refers to; null if they were not looked for, and are left out */
export function readResponsesCall(
  parameters: Parameters,
  text: string,
  items: ReferencedItems | null,
): CallRequest {
  requireKnown(parameters, known);
  requireHarmless(parameters, harmless);
  requireIncludes(parameters);
  const isStream = flagOf(parameters, 'stream');
  const isBackground = flagOf(parameters, 'background');
  const prompt = readPrompt(parameters, text);
  const { messages, instructions } = readInput(parameters.input, items);
  const tools = readTools(parameters, false);
  const format = objectOf(objectOf(parameters, 'text') ?? {}, 'format');
  const all = [textOf(parameters, 'instructions') ?? '', ...instructions].filter(
    (one) => one !== '',
  );
  const responseFormat = readFormat(format, format?.schema, 'text.format');
  const conversation: Conversation = {
    kind: 'conversation',
    messages: suppliedMessages(messages),
    additions: {
      instructions: all.length === 0 ? null : all.join('\n\n'),
      tools,
      toolChoice: readToolChoice(parameters, tools, ({ name }) => name),
    },
    responseFormat,
    schemaText: responseFormat && JSON.stringify(responseFormat.schema),
    prompt: prompt?.reference ?? null,
    labels: readCallerLabels(parameters),
    chars: text.length + charsOf(items),
    ...(isStream && { stream: true }),
    ...(isBackground && { background: true }),
    names: {
      messages: 'input',
      instructions: instructions.length > 0 ? 'input' : 'instructions',
      responseFormat: 'text.format',
    },
  };
  const model = textOf(parameters, 'model') ?? prompt?.agent ?? null;
  if (model === null) throw missing('model');
  return {
    model,
    promptAgent: prompt?.agent ?? null,
    conversation,
    isStream,
    isBackground,
    prompt: objectOf(parameters, 'prompt'),
  };
}

/** Data that the answer does not have is left out; log probabilities would be expected. */
function requireIncludes({ include }: Parameters): void {
  if (include === undefined || include === null) return;
  if (!Array.isArray(include)) throw invalidValue('include', 'must be a list');
  if (include.includes('message.output_text.logprobs')) throw unsupported('include');
}

/** `prompt.id` names an agent, or the prompt of the agent that `model` names. */
function readPrompt(
  parameters: Parameters,
  text: string,
): { readonly agent: string | null; readonly reference: PromptReference } | null {
  const prompt = objectOf(parameters, 'prompt');
  if (prompt === null) return null;
  const id = textOf(prompt, 'id', 'prompt.id');
  if (id === null) throw missing('prompt.id');
  const promptId = fromId('prompt', id);
  const sent = members(compact(text)).findLast(({ name }) => name === 'prompt')?.text ?? '{}';
  objectOf(prompt, 'variables', 'prompt.variables');
  const variables = members(sent).findLast(({ name }) => name === 'variables')?.text ?? 'null';
  const read = readVariables(variables === 'null' ? '{}' : withTexts(variables));
  if (read.kind !== 'variables') {
    throw invalidValue('prompt.variables', `is not valid: ${read.message}`);
  }
  const reference = {
    promptId,
    version: textOf(prompt, 'version', 'prompt.version'),
    variables: read.variables,
  };
  return { agent: promptId === null ? id : null, reference };
}

/** A value may be a part of a message, whose text it then is. */
function withTexts(variables: string): string {
  const all = members(variables).map(({ name, text }) => {
    const value: unknown = text.startsWith('{') ? JSON.parse(text) : null;
    const type = isObject(value) ? value.type : null;
    if (type === 'input_image' || type === 'input_file')
      throw unsupported(`prompt.variables.${name}`);
    const shown =
      isObject(value) && type === 'input_text' && typeof value.text === 'string'
        ? JSON.stringify(value.text)
        : text;
    return `${JSON.stringify(name)}:${shown}`;
  });
  return `{${all.join(',')}}`;
}

/** The items of a request that are named by their identifiers. A type may be left out, as OpenAI's package says. */
export function referencedItems(input: unknown): string[] {
  if (!Array.isArray(input)) return [];
  const ids = input.flatMap((item) => (isReference(item) ? item.id : []));
  return [...new Set(ids)];
}

function isReference(item: unknown): item is { readonly id: string } {
  if (!isObject(item) || typeof item.id !== 'string') return false;
  return item.type === 'item_reference' || (item.type == null && item.role === undefined);
}

/** A message while it is read. */
type ReadMessage =
  | Exclude<SuppliedMessage, { role: 'assistant' }>
  | {
      readonly role: 'assistant';
      content: string;
      toolCalls?: ToolCall[];
      reasoning?: SuppliedReasoning[];
    };

interface Input {
  readonly messages: ReadMessage[];
  /** The texts of system messages. */
  readonly instructions: string[];
}

/** As JSON by identifier: texts are passed between threads faster than objects. */
export type ReferencedItems = Readonly<Record<string, string>>;

export function charsOf(items: ReferencedItems | null): number {
  return Object.values(items ?? {}).reduce((sum, { length }) => sum + length, 0);
}

function readInput(input: unknown, items: ReferencedItems | null): Input {
  if (input === undefined || input === null || input === '')
    return { messages: [], instructions: [] };
  if (typeof input === 'string') {
    return { messages: [{ role: 'user', content: input }], instructions: [] };
  }
  if (!Array.isArray(input)) throw invalidValue('input', 'must be a text or a list of items');
  const found: Input = { messages: [], instructions: [] };
  for (const [index, item] of input.entries()) {
    const place = `input[${index}]`;
    if (!isReference(item)) readItem(item, place, found);
    else if (items) readItem(itemOf(item.id, items, place), place, found);
  }
  return { ...found, messages: found.messages.filter((message) => !isOnlyReasoning(message)) };
}

function itemOf(id: string, items: ReferencedItems, place: string): unknown {
  const found = Object.hasOwn(items, id) ? items[id] : undefined;
  if (found !== undefined) return JSON.parse(found);
  const shown = id.slice(0, 100);
  throw invalidValue(
    place,
    `refers to ${JSON.stringify(shown)}, which is no item of a response that has ended and that this key may read. Send the item itself: in the AI SDK, set the option "store" to false`,
  );
}

const userTypes = ['input_text', 'text'];
const assistantTypes = ['output_text', 'text', 'refusal', 'input_text'];

function readItem(item: unknown, place: string, { messages, instructions }: Input): void {
  if (!isObject(item)) throw invalidValue(place, 'must be an object');
  const { type = 'message', role } = item;
  if (type === 'reasoning') {
    addReasoning(messages, item);
    return;
  }
  if (type === 'function_call') {
    addToolCall(messages, item, place);
    return;
  }
  if (type === 'function_call_output') {
    const toolCallId = textOf(item, 'call_id') ?? '';
    const content = readContent(item.output, userTypes, `${place}.output`);
    messages.push({ role: 'tool', toolCallId, content });
    return;
  }
  if (type !== 'message') {
    throw unsupported(place, `Items of type "${String(type).slice(0, 100)}" are not supported.`);
  }
  if (role === 'user') {
    const content = readUserContent(item.content, userTypes, `${place}.content`);
    messages.push({ role, content });
    return;
  }
  const parts = role === 'assistant' ? assistantTypes : userTypes;
  const content = readContent(item.content, parts, `${place}.content`);
  if (role === 'system' || role === 'developer') {
    if (content !== '') instructions.push(content);
  } else if (role === 'assistant') addText(messages, content);
  else throw invalidValue(`${place}.role`, 'must be user, assistant, system or developer');
}

/** An item of reasoning belongs to the message or the calls that follow it. */
function addReasoning(messages: ReadMessage[], item: Parameters): void {
  const { id, encrypted_content: encrypted } = item;
  const text = [item.content, item.summary].map(joinTexts).find((one) => one !== '') ?? '';
  if (text === '' && typeof encrypted !== 'string') return;
  const part = {
    ...(text !== '' && { text }),
    ...(typeof encrypted === 'string' && { encrypted }),
    // Cueline's own ids mean nothing to a provider.
    ...(typeof id === 'string' && !isReasoningId(id) && { id }),
  };
  const last = messages.at(-1);
  if (last?.role !== 'assistant') {
    messages.push({ role: 'assistant', content: '', reasoning: [part] });
    return;
  }
  last.reasoning ??= [];
  last.reasoning.push(part);
}

function joinTexts(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  const texts = parts.flatMap((part) =>
    isObject(part) && typeof part.text === 'string' ? part.text : [],
  );
  return texts.join('\n\n');
}

function addText(messages: ReadMessage[], content: string): void {
  const last = messages.at(-1);
  if (last && isOnlyReasoning(last)) last.content = content;
  else messages.push({ role: 'assistant', content });
}

function isOnlyReasoning(message: ReadMessage): message is ReadMessage & { role: 'assistant' } {
  return (
    message.role === 'assistant' &&
    message.reasoning !== undefined &&
    message.content === '' &&
    message.toolCalls === undefined
  );
}

/** Calls that follow each other are calls of one message, whose list grows in place: copies would take quadratic time. */
function addToolCall(messages: ReadMessage[], item: Parameters, place: string): void {
  const id = textOf(item, 'call_id');
  const name = textOf(item, 'name');
  const text = textOf(item, 'arguments');
  if (id === null || name === null || text === null) {
    throw invalidValue(place, 'must have "call_id", "name" and "arguments"');
  }
  const call = { id, name, arguments: readArguments(text) };
  const last = messages.at(-1);
  if (last?.role !== 'assistant') {
    messages.push({ role: 'assistant', content: '', toolCalls: [call] });
    return;
  }
  last.toolCalls ??= [];
  last.toolCalls.push(call);
}
