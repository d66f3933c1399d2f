import {
  type Conversation,
  type SuppliedMessage,
  suppliedMessages,
} from '../../core/agent/conversation.ts';
import type { SuppliedReasoning } from '../../core/agent/provider-message.ts';
import { isObject } from '../../core/is-object.ts';
import type { CallRequest } from './call-request.ts';
import { createChatCompletion } from './openai.ts';
import {
  flagOf,
  given,
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

/** Reads a request of the Chat Completions API. */

const known = Object.keys(createChatCompletion.body.properties);

const harmless: Harmless = {
  n: [1],
  logprobs: [false],
  top_logprobs: [0],
  audio: [],
  functions: [[]],
  function_call: ['none', 'auto'],
  web_search_options: [],
  moderation: [],
  prompt_cache_options: harmlessCacheOptions,
};

export function readChatCall(parameters: Parameters, text: string): CallRequest {
  requireKnown(parameters, known);
  requireHarmless(parameters, harmless);
  const { modalities } = parameters;
  if (Array.isArray(modalities) && modalities.some((one) => one !== 'text')) {
    throw unsupported('modalities');
  }
  const model = textOf(parameters, 'model');
  if (model === null) throw missing('model');
  const isStream = flagOf(parameters, 'stream');
  const { messages, instructions } = readMessageList(parameters);
  const tools = readTools(parameters, true);
  const format = objectOf(parameters, 'response_format');
  const schema = format && objectOf(format, 'json_schema')?.schema;
  const responseFormat = readFormat(format, schema, 'response_format');
  const conversation: Conversation = {
    kind: 'conversation',
    messages: suppliedMessages(messages),
    additions: {
      instructions: instructions.length === 0 ? null : instructions.join('\n\n'),
      tools,
      toolChoice: readToolChoice(parameters, tools, (choice) => objectOf(choice, 'function')?.name),
    },
    responseFormat,
    schemaText: responseFormat && JSON.stringify(responseFormat.schema),
    prompt: null,
    labels: readCallerLabels(parameters),
    chars: text.length,
    ...(isStream && { stream: true }),
    names: {
      messages: 'messages',
      instructions: 'messages',
      responseFormat: 'response_format',
    },
  };
  const options = objectOf(parameters, 'stream_options') ?? {};
  return {
    ...{ model, conversation, isStream, isBackground: false },
    includesUsage: flagOf(options, 'include_usage'),
  };
}

function readMessageList(parameters: Parameters) {
  const list = given(parameters, 'messages');
  if (list === undefined) throw missing('messages');
  if (!Array.isArray(list)) throw invalidValue('messages', 'must be a list of messages');
  const messages: SuppliedMessage[] = [];
  const instructions: string[] = [];
  for (const [index, one] of list.entries()) {
    const place = `messages[${index}]`;
    if (!isObject(one)) throw invalidValue(place, 'must be an object');
    if (one.role === 'system' || one.role === 'developer') {
      const text = readContent(one.content, ['text'], `${place}.content`);
      if (text !== '') instructions.push(text);
    } else messages.push(readMessage(one, place));
  }
  return { messages, instructions };
}

function readMessage(one: Parameters, place: string): SuppliedMessage {
  switch (one.role) {
    case 'user':
      return { role: 'user', content: readUserContent(one.content, ['text'], `${place}.content`) };
    case 'tool': {
      const toolCallId = textOf(one, 'tool_call_id') ?? '';
      return {
        role: 'tool',
        toolCallId,
        content: readContent(one.content, ['text'], `${place}.content`),
      };
    }
    case 'assistant':
      return readAssistant(one, place);
    default:
      throw invalidValue(`${place}.role`, 'must be user, assistant, tool, system or developer');
  }
}

function readAssistant(one: Parameters, place: string): SuppliedMessage {
  const content =
    given(one, 'content') === undefined
      ? (textOf(one, 'refusal') ?? '')
      : readContent(one.content, ['text', 'refusal'], `${place}.content`);
  const calls = given(one, 'tool_calls') ?? [];
  if (!Array.isArray(calls)) throw invalidValue(`${place}.tool_calls`, 'must be a list');
  const reasoning = chatReasoning(one);
  const thoughts = reasoning.length > 0 && { reasoning };
  if (calls.length === 0) return { role: 'assistant', content, ...thoughts };
  const toolCalls = calls.map((call: unknown, index) => {
    const at = `${place}.tool_calls[${index}]`;
    if (!isObject(call)) throw invalidValue(at, 'must be an object');
    const called = objectOf(call, 'function') ?? {};
    const [id, name, text] = [
      textOf(call, 'id'),
      textOf(called, 'name'),
      textOf(called, 'arguments'),
    ];
    if (id === null || name === null || text === null) {
      throw invalidValue(at, 'must have an "id" and a "function" with "name" and "arguments"');
    }
    const extra = call.extra_content;
    const extraContent = isObject(extra) && { extraContent: extra };
    return { id, name, arguments: readArguments(text), ...extraContent };
  });
  return { role: 'assistant', content, toolCalls, ...thoughts };
}

/**
 * What servers of chat completions send beside an answer, and clients send back: a text (DeepSeek and others), or parts with
 * signatures (OpenRouter, LiteLLM).
 */
function chatReasoning(one: Parameters): SuppliedReasoning[] {
  const { reasoning_content: content, reasoning, reasoning_details, thinking_blocks } = one;
  const parts = [reasoning_details, thinking_blocks].find(Array.isArray) ?? [];
  if (parts.length > 0) return parts.flatMap(signedPart);
  const text = content ?? reasoning;
  return typeof text === 'string' ? [{ text }] : [];
}

function signedPart(part: unknown): SuppliedReasoning[] {
  if (!isObject(part)) return [];
  const text = [part.text, part.thinking, part.summary].find((one) => typeof one === 'string');
  const encrypted = [part.signature, part.data].find((one) => typeof one === 'string');
  if (text === undefined && encrypted === undefined) return [];
  return [{ ...(text !== undefined && { text }), ...(encrypted !== undefined && { encrypted }) }];
}
