import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallOptions, LanguageModel } from '../port/model.ts';
import { listOf } from '../response/join-events.ts';
import { chatFieldsOf } from './restore-message.ts';

/**
 * Reasoning and signatures in chat completions of the package for OpenAI, which sends neither, because OpenAI has none there.
 * Gateways under another address do. The package for compatible servers sends them by itself.
 */

type Fields = Record<string, unknown>;

interface SentMessage {
  readonly fields: Fields;
  /** Of its calls, by their ids. */
  readonly calls: ReadonlyMap<string, Fields>;
}

/** The messages of the assistant in the request that is being built. */
const messagesOfCall = new AsyncLocalStorage<readonly SentMessage[]>();

export function withChatFields(chat: LanguageModel): LanguageModel {
  return {
    specificationVersion: chat.specificationVersion,
    provider: chat.provider,
    modelId: chat.modelId,
    supportedUrls: chat.supportedUrls,
    doGenerate: (options) =>
      messagesOfCall.run(messagesOf(options), () => chat.doGenerate(options)),
    doStream: (options) => messagesOfCall.run(messagesOf(options), () => chat.doStream(options)),
  };
}

function messagesOf({ prompt }: CallOptions): SentMessage[] {
  return prompt.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    const calls = message.content.flatMap((part) =>
      part.type === 'tool-call' ? [[part.toolCallId, chatFieldsOf(part)] as const] : [],
    );
    return [{ fields: chatFieldsOf(message), calls: new Map(calls) }];
  });
}

/** The same `fetch`, with these fields in the messages of the body. */
export function addChatFields(fetch: typeof globalThis.fetch): typeof fetch {
  return (input, init) => {
    const sent = messagesOfCall.getStore() ?? [];
    const isPlain = sent.every(
      ({ fields, calls }) => isEmpty(fields) && calls.values().every(isEmpty),
    );
    if (isPlain || typeof init?.body !== 'string') return fetch(input, init);
    const { messages, ...body } = JSON.parse(init.body) as Fields;
    const extended = { ...body, messages: extendMessages(listOf(messages), sent) };
    return fetch(input, { ...init, body: JSON.stringify(extended) });
  };
}

function isEmpty(fields: Fields): boolean {
  return Object.keys(fields).length === 0;
}

/** The messages of the assistant are in the same order. */
function extendMessages(messages: readonly Fields[], sent: readonly SentMessage[]): Fields[] {
  const next = sent.values();
  return messages.map((message) => {
    const own = message.role === 'assistant' ? next.next().value : undefined;
    if (!own) return message;
    const calls = listOf(message.tool_calls).map((call) => ({
      ...call,
      ...own.calls.get(String(call.id)),
    }));
    return { ...message, ...own.fields, ...(calls.length > 0 && { tool_calls: calls }) };
  });
}
