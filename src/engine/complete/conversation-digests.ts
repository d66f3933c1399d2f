import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { filesOf, textOf } from '../../core/agent/content.ts';
import type { Message, SentToolCall } from '../../core/agent/messages.ts';
import { canonical } from '../../core/json.ts';

/**
 * By which a message with calls of tools is found again: a digest of its workspace, of all messages before it, of its text and of its
 * calls. Many servers number the calls of each answer from 0, so the same calls are in conversations of different users. Where all
 * of this is equal, the model was asked the same, and its reasoning contains nothing that this conversation does not.
 *
 * Reasoning and signatures are left out, as callers may leave them out.
 */
export interface MessageDigest {
  /** In the list. */
  readonly index: number;
  /** 32 hexadecimal digits. */
  readonly digest: string;
}

/** Of each message with calls of tools, oldest first. */
export async function messageDigests(
  workspaceId: string,
  messages: readonly Message[],
): Promise<MessageDigest[]> {
  const last = messages.findLastIndex(hasCalls);
  const conversation = createHash('sha256').update(workspaceId);
  const digests: MessageDigest[] = [];
  let chars = 0;
  for (const [index, message] of messages.slice(0, last + 1).entries()) {
    for (const part of partsOf(message)) {
      chars += part.length;
      conversation.update(part).update('\n');
      if (chars < charsAtOnce) continue;
      chars = 0;
      await setImmediate();
    }
    if (!hasCalls(message)) continue;
    const digest = conversation.copy().digest('hex').slice(0, digestLength);
    digests.push({ index, digest });
  }
  return digests;
}

/** After as many characters, others have their turn. */
export const charsAtOnce = 65_536;
const digestLength = 32;

function hasCalls(message: Message): boolean {
  return message.role === 'assistant' && (message.toolCalls ?? []).length > 0;
}

/** As texts without line breaks, of which the first one says how many calls follow. */
function* partsOf(message: Message): Generator<string> {
  const { role, content } = message;
  const calls = role === 'assistant' ? (message.toolCalls ?? []) : [];
  const files = filesOf(content).map(({ kind, source }) => [kind, source.value]);
  const answered = role === 'tool' ? message.toolCallId : null;
  // Clients send an empty text, blanks or null for no text.
  yield JSON.stringify([role, textOf(content).trim(), files, answered, calls.length]);
  for (const call of calls) yield callText(call);
}

function callText({ id, name, arguments: given }: SentToolCall): string {
  return JSON.stringify([id, name, argumentsText(given)]);
}

/** Clients send the object or its text, some with its names in another order. */
function argumentsText(given: unknown): string {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  if (text.length > charsAtOnce) return text;
  try {
    JSON.parse(text);
    return canonical(text);
  } catch {
    // No JSON, or nested too deeply.
    return text;
  }
}
