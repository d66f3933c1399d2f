import type { Message, SentToolCall } from '../../core/agent/messages.ts';
import type { ProviderMessage, SuppliedReasoning } from '../../core/agent/provider-message.ts';
import { isObject } from '../../core/is-object.ts';
import { depth, jsonDepthMax } from '../../core/json.ts';
import type { ProviderKind } from '../../core/model/provider.ts';
import type { Answer, CallOptions } from '../port/model.ts';
import { fieldsOf, listOf } from '../response/join-events.ts';

/**
 * Messages of an assistant with their reasoning, in both directions.
 *
 * The AI SDK reads reasoning and signatures of most APIs into parts with metadata, and writes them from the same parts. Of chat
 * completions it knows two fields, so their own fields are kept as they are: servers name reasoning as they like
 * (`reasoning_content`, `reasoning`, `reasoning_details`, `thinking_blocks`), and Gemini has its signatures in `extra_content`.
 */

type Part = Answer['content'][number];
type AssistantMessage = Extract<CallOptions['prompt'][number], { role: 'assistant' }>;
type AssistantPart = AssistantMessage['content'][number];
type Metadata = NonNullable<AssistantMessage['providerOptions']>;
type Fields = Record<string, unknown>;

/**
 * The message of an answer with calls of tools; undefined if it is no more than text and calls.
 * @param shownText its text without reasoning
 */
export function providerMessageOf(
  provider: string,
  { content, response }: Answer,
  shownText: string,
): ProviderMessage | undefined {
  const message = chatMessage(response?.body);
  const fields = message ? pick(message, isOfReasoning) : {};
  const parts = content.flatMap((part) => keptPart(part, message));
  const hasThoughts = textOf(parts) !== shownText;
  const isPlain = parts.every((part) => part.type !== 'reasoning' && !part.providerMetadata);
  const hasFields = Object.keys(fields).length > 0;
  if (isPlain && !hasThoughts && !hasFields) return undefined;
  return { provider, content: parts, ...(hasFields && { fields }) };
}

type KeptPart = Extract<Part, { type: 'text' | 'reasoning' | 'tool-call' }>;

function textOf(parts: readonly (KeptPart | AssistantPart)[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function keptPart(part: Part, message: Fields | null): KeptPart[] {
  if (part.type === 'text' || part.type === 'reasoning') {
    const { type, text, providerMetadata } = part;
    // The reasoning of a chat completion is one of its fields.
    if (message) return type === 'text' ? [{ type, text }] : [];
    return [{ type, text, ...(providerMetadata && { providerMetadata }) }];
  }
  if (part.type !== 'tool-call' || part.providerExecuted) return [];
  const { type, toolCallId, toolName, input, providerMetadata } = part;
  const metadata = message ? extrasOf(message, toolCallId) : providerMetadata;
  return [{ type, toolCallId, toolName, input, ...(metadata && { providerMetadata: metadata }) }];
}

/** The message of a chat completion; null for any other API. */
function chatMessage(body: unknown): Fields | null {
  const { choices } = fieldsOf(body);
  return Array.isArray(choices) ? fieldsOf(fieldsOf(choices[0]).message) : null;
}

/** What a server sent beside the name and the arguments of a call. */
function extrasOf({ tool_calls: calls }: Fields, id: string): Metadata | undefined {
  const call = listOf(calls).find((one) => one.id === id);
  const extras = call ? pick(call, (name) => !ofCall.has(name)) : {};
  return Object.keys(extras).length > 0 ? chatMetadata(extras) : undefined;
}

const ofCall: ReadonlySet<string> = new Set(['id', 'type', 'index', 'function']);

function isOfReasoning(name: string): boolean {
  return /reason|think|thought|signature|^extra_content$|^provider_specific_fields$/i.test(name);
}

function pick(fields: Fields, isWanted: (name: string) => boolean): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => isWanted(name) && value !== null && value !== undefined && value !== '',
    ),
  );
}

type SentMessage = Extract<Message, { role: 'assistant' }>;

/** The target of a request. */
export interface Addressee {
  readonly kind: ProviderKind;
  /** Its name in `provider/model`. */
  readonly name: string;
}

/**
 * The message of an earlier turn for this provider: as it was sent, if this is the one that sent it, else with what the caller
 * knows of its reasoning. Null if it says nothing.
 */
export function assistantMessage(
  message: SentMessage,
  text: string,
  { kind, name }: Addressee,
): AssistantMessage | null {
  const { toolCalls = [], reasoning = [], provided } = message;
  const calls = toolCalls.map(callPart);
  const texts = text.trim() === '' ? [] : [{ type: 'text' as const, text }];
  if (texts.length === 0 && calls.length === 0) return null;
  if (provided?.provider === name) return restored(provided, calls);
  // Google takes no thoughts without a signature.
  const known = reasoning.filter(({ encrypted }) => kind !== 'google' || encrypted !== undefined);
  const thoughts = reasoning.flatMap((part) => part.text ?? []);
  return asMessage(
    [...known.map(reasoningPart), ...texts, ...calls],
    thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('') },
  );
}

function asMessage(content: AssistantPart[], fields: Fields): AssistantMessage {
  const options = Object.keys(fields).length > 0 && { providerOptions: chatMetadata(fields) };
  return { role: 'assistant', content, ...options };
}

/** As it was sent: the caller's text and calls are the same. */
function restored(
  { content, fields = {} }: ProviderMessage,
  calls: readonly CallPart[],
): AssistantMessage {
  const parts = (content as readonly KeptPart[]).flatMap((part): AssistantPart[] => {
    const { providerMetadata } = part;
    const options = providerMetadata && { providerOptions: providerMetadata };
    if (part.type !== 'tool-call') return [{ type: part.type, text: part.text, ...options }];
    const call = calls.find(({ toolCallId }) => toolCallId === part.toolCallId);
    return call ? [{ ...call, ...options }] : [];
  });
  return asMessage(parts, fields);
}

/** Each package reads the metadata under its own name. */
function reasoningPart({ text = '', encrypted, id }: SuppliedReasoning): AssistantPart {
  // Without the reasoning itself, an id is one that OpenAI does not know: it stores nothing.
  if (encrypted === undefined) return { type: 'reasoning', text };
  const item = { ...(id !== undefined && { itemId: id }), reasoningEncryptedContent: encrypted };
  const signed = { signature: encrypted };
  const providerOptions = {
    anthropic: signed,
    bedrock: signed,
    google: { thoughtSignature: encrypted },
    openai: item,
    azure: item,
  };
  return { type: 'reasoning', text, providerOptions };
}

type CallPart = Extract<AssistantPart, { type: 'tool-call' }>;

function callPart({ id, name, arguments: given, extraContent }: SentToolCall): CallPart {
  const input = typeof given === 'string' ? parseModelArguments(given) : given;
  const { thought_signature: thoughtSignature } = fieldsOf(extraContent?.google);
  const metadata = {
    ...(extraContent && chatMetadata({ extra_content: extraContent })),
    ...(typeof thoughtSignature === 'string' && { google: { thoughtSignature } }),
  };
  const options = Object.keys(metadata).length > 0 && { providerOptions: metadata };
  return { type: 'tool-call', toolCallId: id, toolName: name, input, ...options };
}

/**
 * The object that a text contains; the text itself if it is no JSON object, or one that is nested deeper than any value that is
 * stored. No text and `null` are calls without arguments. Some models write the object as a JSON text once more.
 */
export function parseModelArguments(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const json = typeof value === 'string' ? value : text;
    const object: unknown = typeof value === 'string' ? JSON.parse(value) : (value ?? {});
    return isObject(object) && depth(json) <= jsonDepthMax ? object : text;
  } catch {
    return text;
  }
}

/** Under this name, the package for compatible servers takes the fields of a message or a call that it does not know. */
function chatMetadata(fields: Fields): Metadata {
  return { openaiCompatible: fields as Metadata[string] };
}

/** The fields that a message or a call has in a chat completion. */
export function chatFieldsOf({
  providerOptions,
}: Pick<AssistantMessage, 'providerOptions'>): Fields {
  return providerOptions?.openaiCompatible ?? {};
}
