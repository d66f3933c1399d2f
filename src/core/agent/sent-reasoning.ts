import type { Message, SentToolCall } from './messages.ts';
import { providerMessageCharsMax, type SuppliedReasoning } from './provider-message.ts';

/**
 * The reasoning that a client of the OpenAI API sends with its messages. It travels beside the list: the list is a variable, which
 * records show, and which a worker of the previous version must be able to read.
 */
export interface SentReasoning {
  /** The variable that is the list. */
  readonly list: string;
  readonly messages: readonly MessageReasoning[];
}

/** What a message of the assistant has beside its text and calls. */
export interface MessageReasoning {
  /** In the list. */
  readonly index: number;
  readonly reasoning?: readonly SuppliedReasoning[];
  /** By the ids of calls. */
  readonly extraContent?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** A message of a client. Only those of the assistant have these. */
interface ClientMessage {
  readonly role: string;
  readonly reasoning?: readonly SuppliedReasoning[];
  readonly toolCalls?: readonly SentToolCall[];
}

/** Splits messages into a list without reasoning, and the reasoning: of long reasoning the newest. */
export function splitReasoning(messages: readonly ClientMessage[]): {
  readonly list: readonly ClientMessage[];
  readonly reasoning: readonly MessageReasoning[];
} {
  const all = messages.flatMap((message, index) => reasoningIn(message, index) ?? []);
  if (all.length === 0) return { list: messages, reasoning: [] };
  let chars = 0;
  const isShort = (one: MessageReasoning) => {
    chars += JSON.stringify(one).length;
    return chars <= providerMessageCharsMax;
  };
  const dropped = all.findLastIndex((one) => !isShort(one));
  return { list: messages.map(withoutReasoning), reasoning: all.slice(dropped + 1) };
}

function reasoningIn(
  { reasoning, toolCalls = [] }: ClientMessage,
  index: number,
): MessageReasoning | null {
  const extras = toolCalls.flatMap(({ id, extraContent }) =>
    extraContent ? [[id, extraContent] as const] : [],
  );
  if (!reasoning && extras.length === 0) return null;
  const extraContent = extras.length > 0 && { extraContent: Object.fromEntries(extras) };
  return { index, ...(reasoning && { reasoning }), ...extraContent };
}

function withoutReasoning({ reasoning: _, toolCalls, ...plain }: ClientMessage): ClientMessage {
  const calls = toolCalls?.map(({ extraContent: __, ...call }) => call);
  return { ...plain, ...(calls && { toolCalls: calls }) };
}

/** The messages of the list with their reasoning. */
export function withReasoning(
  messages: readonly Message[],
  sent: readonly MessageReasoning[],
): readonly Message[] {
  const byIndex = new Map(sent.map((one) => [one.index, one]));
  return messages.map((message, index) => {
    const own = byIndex.get(index);
    if (!own || message.role !== 'assistant') return message;
    const { reasoning, extraContent = {} } = own;
    const calls = message.toolCalls?.map((call) => {
      const extra = Object.hasOwn(extraContent, call.id) ? extraContent[call.id] : undefined;
      return { ...call, ...(extra && { extraContent: extra }) };
    });
    return { ...message, ...(reasoning && { reasoning }), ...(calls && { toolCalls: calls }) };
  });
}
