import type { Conversation, ParsedBody } from '../../core/agent/conversation.ts';
import { computeJob } from '../../core/compute.ts';
import { fromId } from '../../core/id.ts';
import { isObject } from '../../core/is-object.ts';
import { depth, isStorable, jsonDepthMax } from '../../core/json.ts';
import { decodeUtf8, notUtf8 } from '../../core/utf8.ts';
import { bodyBytesMax } from '../../http/contract/contract-limits.ts';
import type { CallRequest } from './call-request.ts';
import { readChatCall } from './read-chat.ts';
import { invalidValue, ParameterError, type Parameters } from './read-parameters.ts';
import { type ReferencedItems, readResponsesCall, referencedItems } from './read-responses.ts';

/** The call, or a body that admission refuses. A refused body names no agent that could be called. */
export type ReadCall =
  /** It lacks the items of responses that it refers to, if they were not looked for. */
  | { readonly kind: 'call'; readonly call: CallRequest; readonly references: readonly string[] }
  | { readonly kind: 'refused'; readonly model: string | null; readonly body: ParsedBody };

export type RefusedRead = Extract<ReadCall, { kind: 'refused' }>;

export type OpenAiApi = 'chat' | 'responses';

export interface SentCall {
  readonly api: OpenAiApi;
  /** Bytes have not been decoded yet. */
  readonly sent: string | Uint8Array;
  /** Those that the input refers to, as far as they were found; null if they were not looked for. */
  readonly items: ReferencedItems | null;
}

const readers = { chat: readChatCall, responses: readResponsesCall };

/** Errors are values, because admission checks limits first. */
export function readCall({ api, sent, items }: SentCall): ReadCall {
  const text = typeof sent === 'string' ? sent : decodeUtf8(sent);
  if (text === null) return refused({ kind: 'malformed', message: notUtf8 });
  const parsed = parse(text);
  if (parsed === undefined) {
    return refused({ kind: 'malformed', message: 'The body is not valid JSON.' });
  }
  try {
    const parameters = asObject(parsed, text);
    const references = api === 'chat' || items ? [] : referencedItems(parameters.input);
    const call = readers[api](parameters, text, items);
    requireUsable(call.conversation);
    requireShort(parsed as Parameters, text);
    return { kind: 'call', call, references };
  } catch (error) {
    if (error instanceof ParameterError) return refused(error.body, modelIn(parsed));
    throw error;
  }
}

export const readCallJob = computeJob(import.meta.url, readCall);

/** What a caller that may not call gets to know: nothing of its body is read but the agent that it names. */
export function readModel(text: string): RefusedRead {
  return refused(notRead, modelIn(parse(text)));
}

export const notRead: ParsedBody = { kind: 'absent', message: 'The body is not read.' };

export function refused(body: ParsedBody, model: string | null = null): RefusedRead {
  return { kind: 'refused', model, body };
}

/** The agent that a body names in `model` or, without one, in `prompt.id`. */
function modelIn(parsed: unknown): string | null {
  const { model, prompt } = isObject(parsed) ? parsed : {};
  if (typeof model === 'string') return model;
  const { id } = isObject(prompt) ? prompt : {};
  return typeof id === 'string' && fromId('prompt', id) === null ? id : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asObject(parsed: unknown, text: string): Parameters {
  if (!isObject(parsed)) {
    throw new ParameterError('invalid_type', null, 'The body must be a JSON object.');
  }
  if (!isStorable(text)) {
    const message = 'The body contains a NUL or a lone surrogate, which cannot be stored.';
    throw new ParameterError('invalid_value', null, message);
  }
  if (depth(text) > jsonDepthMax) {
    const message = `The body is nested deeper than ${jsonDepthMax} levels.`;
    throw new ParameterError('invalid_value', null, message);
  }
  return parsed;
}

/**
 * Everything but the messages is kept as objects, and passed on between threads, so it is no longer than a body of another call.
 */
function requireShort(parameters: Parameters, text: string): void {
  if (text.length <= bodyBytesMax) return;
  const { messages: _, input: __, ...others } = parameters;
  if (JSON.stringify(others).length <= bodyBytesMax) return;
  const message = `Everything but "messages" or "input" must have at most ${bodyBytesMax} bytes.`;
  throw new ParameterError('invalid_value', null, message);
}

/** Arguments of tools are JSON in a text, so they can hold what the body cannot. */
function requireUsable({ messages: { json }, names }: Conversation): void {
  if (!isStorable(json)) {
    throw invalidValue(names.messages, 'contains a NUL or a lone surrogate');
  }
  // The list is a value of the variables.
  if (depth(json) >= jsonDepthMax) {
    throw invalidValue(names.messages, `is nested deeper than ${jsonDepthMax} levels`);
  }
}
