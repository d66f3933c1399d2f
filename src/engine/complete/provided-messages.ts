import { setImmediate } from 'node:timers/promises';
import type { Message } from '../../core/agent/messages.ts';
import type { Prompt } from '../../core/agent/prompt.ts';
import {
  earlierMessagesCharsMax,
  type ProviderMessage,
} from '../../core/agent/provider-message.ts';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import { charsAtOnce, messageDigests } from './conversation-digests.ts';

/**
 * Gives the messages of earlier turns what callers of the API do not send back: reasoning and signatures, as the provider sent them
 * with these calls of tools. They are sent to the provider alone: no record and no response of this execution has them.
 *
 * They may be long, so they are found first and read once there is room for them.
 */

export interface EarlierMessages {
  /** The newest stored message for each of these digests, without its contents. */
  find(executionId: string, digests: readonly string[]): Promise<readonly FoundMessage[]>;
  /** Their contents, `ProviderMessage` as JSON, by execution. */
  read(executionIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export interface FoundMessage {
  readonly digest: string;
  readonly executionId: string;
  readonly chars: number;
}

/** The stored messages for a prompt. */
export interface ProvidedMessages {
  readonly chars: number;
  /** Executions, by the index of the message in the prompt. */
  readonly executions: ReadonlyMap<number, string>;
}

export async function findProvided(
  earlier: EarlierMessages,
  { id, workspaceId }: Pick<QueuedExecution, 'id' | 'workspaceId'>,
  { messages = [] }: Prompt,
): Promise<ProvidedMessages> {
  const digests = (await messageDigests(workspaceId, messages)).slice(-earlierMessagesMax);
  const rows =
    digests.length === 0
      ? []
      : await earlier.find(
          id,
          digests.map((one) => one.digest),
        );
  const found = new Map(rows.map((row) => [row.digest, row]));
  const executions = new Map<number, string>();
  let chars = 0;
  for (const { index, digest } of digests.toReversed()) {
    const row = found.get(digest);
    if (!row) continue;
    if (chars + row.chars > earlierMessagesCharsMax) break;
    chars += row.chars;
    executions.set(index, row.executionId);
  }
  return { chars, executions };
}

/** Messages of one prompt that are looked for, newest first. */
const earlierMessagesMax = 1_000;

/** The prompt with the contents of these. One that was deleted in between is left out. */
export async function withProvided(
  earlier: EarlierMessages,
  prompt: Prompt,
  { executions }: ProvidedMessages,
): Promise<Prompt> {
  const stored = await earlier.read([...executions.values()]);
  const completed: Message[] = [];
  let chars = 0;
  for (const [index, message] of (prompt.messages ?? []).entries()) {
    const json = stored.get(executions.get(index) ?? '');
    completed.push(json ? { ...message, ...providedIn(json) } : message);
    chars += json?.length ?? 0;
    if (chars < charsAtOnce) continue;
    chars = 0;
    await setImmediate();
  }
  return { ...prompt, messages: completed };
}

function providedIn(json: string): { readonly provided: ProviderMessage } {
  return { provided: JSON.parse(json) };
}
