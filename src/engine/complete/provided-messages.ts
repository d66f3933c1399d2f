import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Message, SentToolCall, ToolCall } from '../../core/agent/messages.ts';
import type { Prompt } from '../../core/agent/prompt.ts';
import type { ProviderMessage } from '../../core/agent/provider-message.ts';
import type { StoredMessage } from './assistant-messages.ts';

/**
 * Gives the messages of earlier turns what callers of the API do not send back: reasoning and signatures, as the provider sent them
 * with these calls of tools. They are sent to the provider alone: no record and no response of this execution has them.
 */

export type FindMessages = (
  executionId: string,
  callIds: readonly string[],
) => Promise<readonly StoredMessage[]>;

type AssistantMessage = Extract<Message, { role: 'assistant' }>;

/** @param find is called if there are calls whose signatures the caller does not send itself */
export async function withProvided(
  prompt: Prompt,
  find: (callIds: readonly string[]) => Promise<readonly StoredMessage[]>,
): Promise<Prompt> {
  const { messages = [] } = prompt;
  const callIds = messages.flatMap((message) => (isOpen(message) ? callsOf(message) : []));
  if (callIds.length === 0) return prompt;
  const found = (await find(callIds.map(({ id }) => id))).map(({ message, toolCalls }) => ({
    message,
    calls: new Map((JSON.parse(toolCalls) as ToolCall[]).map((call) => [call.id, call])),
  }));
  if (found.length === 0) return prompt;
  const completed: Message[] = [];
  for (const message of messages) {
    const stored =
      isOpen(message) &&
      found.find(({ calls }) => callsOf(message).every((call) => isSame(call, calls)));
    if (!stored) {
      completed.push(message);
      continue;
    }
    // Together they may be long; each alone is not.
    if (stored.message.length > parsedAtOnce) await setImmediate();
    completed.push({ ...message, provided: JSON.parse(stored.message) as ProviderMessage });
  }
  return { ...prompt, messages: completed };
}

/** In characters. */
const parsedAtOnce = 65_536;

export function providedIn({ messages = [] }: Prompt): ProviderMessage[] {
  return messages.flatMap((message) => ('provided' in message ? (message.provided ?? []) : []));
}

function isOpen(message: Message): message is AssistantMessage {
  if (message.role !== 'assistant') return false;
  const { toolCalls = [], reasoning = [] } = message;
  const isSigned =
    reasoning.some(({ encrypted }) => encrypted !== undefined) ||
    toolCalls.some(({ extraContent }) => extraContent !== undefined);
  return toolCalls.length > 0 && !isSigned;
}

function callsOf({ toolCalls = [] }: AssistantMessage): readonly SentToolCall[] {
  return toolCalls;
}

/** An id may be that of other calls too, such as a number. */
function isSame(call: ToolCall, calls: ReadonlyMap<string, ToolCall>): boolean {
  const stored = calls.get(call.id);
  return (
    stored?.name === call.name &&
    isDeepStrictEqual(parsed(stored.arguments), parsed(call.arguments))
  );
}

function parsed(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}
