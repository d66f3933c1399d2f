import { randomUUID } from 'node:crypto';
import { ModelFailure } from '../../core/model/model-port.ts';
import { wordSet } from '../../core/words.ts';
import { readLeniently } from '../response/lenient-json.ts';

/**
 * Ollama's own API, below a `fetch` for chat completions: the request is translated on the way out, the response on the
 * way back. So everything that reads and repairs chat completions applies, and options that only Ollama's own API has
 * (`num_ctx`, `keep_alive`, `think`) can be sent.
 */
export function speakOllama(fetch: typeof globalThis.fetch): typeof fetch {
  return async (input, init = {}) => {
    if (typeof init.body !== 'string') return fetch(input, init);
    const url = String(input).replace(/\/chat\/completions$/, '/api/chat');
    const body = JSON.stringify(toOllama(JSON.parse(init.body)));
    const response = await fetch(url, { ...init, body });
    if (!response.ok) return response;
    const text = await response.text();
    const headers = new Headers(response.headers);
    headers.delete('content-length');
    const answer = readAnswer(text);
    const translated = answer ? JSON.stringify(toCompletion(answer)) : text;
    return new Response(translated, { status: response.status, headers });
  };
}

type Fields = Record<string, unknown>;

/** A chat completion as a request to `/api/chat`. */
export function toOllama(request: Fields): Fields {
  const { model, messages, stream = false, tools, tool_choice: choice, ...rest } = request;
  const { response_format: format, reasoning_effort: effort, ...settings } = rest;
  const own: Fields = {};
  const options: Fields = {};
  for (const [name, value] of Object.entries(settings)) {
    if (ignored.has(name)) continue;
    if (topLevel.has(name)) own[name] = value;
    else options[optionNames.get(name) ?? name] = value;
  }
  const { options: given, ...others } = own;
  const all = { ...options, ...fieldsOf(given) };
  return {
    model,
    messages: withToolNames(listOf(messages)).map(toMessage),
    stream,
    // Ollama has no such setting: without tools, none is called.
    ...(tools !== undefined && choice !== 'none' && { tools }),
    ...(format !== undefined && { format: formatOf(fieldsOf(format)) }),
    ...(effort !== undefined && { think: thinkOf(effort) }),
    ...others,
    ...(Object.keys(all).length > 0 && { options: all }),
  };
}

/** Fields of `/api/chat` itself; everything else that is set is an option of the model. */
const topLevel = wordSet('options keep_alive think format truncate shift logprobs top_logprobs');
const ignored: ReadonlySet<string> = new Set(['user', 'verbosity']);
const optionNames: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'num_predict'],
  ['max_completion_tokens', 'num_predict'],
]);

/** Ollama has three levels. */
function thinkOf(effort: unknown): unknown {
  if (effort === 'none') return false;
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' ? 'high' : effort;
}

function formatOf({ type, json_schema: given }: Fields): unknown {
  return type === 'json_schema' ? fieldsOf(given).schema : 'json';
}

/** Ollama names the tool of a result, where chat completions name the call. */
function withToolNames(messages: readonly Fields[]): Fields[] {
  const names = new Map<unknown, unknown>();
  return messages.map((message) => {
    for (const call of listOf(message.tool_calls)) names.set(call.id, fieldsOf(call.function).name);
    const { tool_call_id: id, ...rest } = message;
    return id === undefined ? message : { ...rest, tool_name: names.get(id) };
  });
}

function toMessage({ content, tool_calls: calls, reasoning_content, ...rest }: Fields): Fields {
  const parts = Array.isArray(content) ? listOf(content) : null;
  const images = parts?.filter(({ type }) => type === 'image_url').map(imageOf) ?? [];
  if (parts?.some(({ type }) => type !== 'text' && type !== 'image_url')) {
    const message = 'Ollama takes texts and images, no other files.';
    throw new ModelFailure('PROVIDER_ERROR', message, { retryable: false });
  }
  const text = parts
    ? parts.flatMap(({ text }) => (typeof text === 'string' ? text : [])).join('')
    : (content ?? '');
  return {
    ...rest,
    content: text,
    ...(images.length > 0 && { images }),
    ...(reasoning_content !== undefined && { thinking: reasoning_content }),
    ...(Array.isArray(calls) && { tool_calls: listOf(calls).map(toToolCall) }),
  };
}

function imageOf(part: Fields): unknown {
  const { url } = fieldsOf(part.image_url);
  return typeof url === 'string' ? url.replace(/^data:[^,]*;base64,/, '') : url;
}

function toToolCall(call: Fields): Fields {
  const { name, arguments: given } = fieldsOf(call.function);
  return { function: { name, arguments: typeof given === 'string' ? JSON.parse(given) : given } };
}

/** An answer, in one piece or, from a server that streams all the same, in lines; `null` for anything else. */
function readAnswer(text: string): Fields | null {
  const lines = text.trim().split('\n');
  const pieces = lines.length > 1 ? lines.map(parsed) : [];
  const streamed = pieces.length > 0 && pieces.every(isPiece);
  if (streamed) return joined(pieces);
  const one = fieldsOf(readLeniently(text));
  return isPiece(one) ? one : null;
}

function parsed(line: string): Fields {
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return {};
  }
}

function isPiece({ message, error }: Fields): boolean {
  return typeof message === 'object' && message !== null && !error;
}

function joined(pieces: readonly Fields[]): Fields {
  const messages = pieces.map(({ message }) => fieldsOf(message));
  const textOf = (name: string) => messages.map((message) => message[name] ?? '').join('');
  const message = {
    content: textOf('content'),
    thinking: textOf('thinking'),
    tool_calls: messages.flatMap((each) => listOf(each.tool_calls)),
  };
  return { ...pieces.at(-1), message };
}

/** An answer of `/api/chat` as a chat completion. */
function toCompletion(answer: Fields): Fields {
  const { content, thinking, tool_calls: calls } = fieldsOf(answer.message);
  const toolCalls = listOf(calls).map(({ id, function: called }) => {
    const { name, arguments: given } = fieldsOf(called);
    const input = typeof given === 'string' ? given : JSON.stringify(given ?? {});
    // Unlike a number, it is of this answer alone: the next turn finds its message by it.
    return {
      id: id ?? `call_${randomUUID()}`,
      type: 'function',
      function: { name, arguments: input },
    };
  });
  const { done_reason } = answer;
  const isCut = done_reason === 'length';
  const reason = toolCalls.length > 0 && !isCut ? 'tool_calls' : done_reason;
  const message = {
    role: 'assistant',
    content: content ?? '',
    ...(thinking ? { reasoning_content: thinking } : {}),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
  return {
    model: answer.model,
    choices: [
      { index: 0, message, ...(reason !== undefined && { finish_reason: reason, done_reason }) },
    ],
    ...usageOf(answer),
  };
}

/** Ollama leaves out a count that it does not know. */
function usageOf({ prompt_eval_count: input, eval_count: output }: Fields): Fields {
  if (input === undefined && output === undefined) return {};
  return { usage: { prompt_tokens: input, completion_tokens: output } };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
