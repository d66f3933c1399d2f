import { textOf } from './content.ts';
import type { Message } from './messages.ts';
import type { Prompt } from './prompt.ts';
import { systemTextOf } from './render-messages.ts';
import { correctionText } from './response-format.ts';

/** A prompt with what was sent beside it: a text that asks for JSON, and a correction of the previous answer. */
export function withSentTexts(
  prompt: Prompt,
  instruction: string | null,
  correction: string | null,
): Prompt {
  if (instruction === null && correction === null) return prompt;
  const given = messagesOf(prompt);
  const instructed = instruction === null ? given : withInstruction(given, instruction);
  const corrected = { role: 'user', content: correctionText(correction ?? '') } as const;
  const messages = correction === null ? instructed : [...instructed, corrected];
  const sent = { ...prompt, system: systemTextOf(messages) };
  return correction === null && !prompt.messages ? sent : { ...sent, messages };
}

/** Those of the short form as well. */
export function messagesOf({ system, user, messages }: Prompt): readonly Message[] {
  return (
    messages ?? [
      ...(system === null ? [] : [{ role: 'system', content: system } as const]),
      ...(user === null ? [] : [{ role: 'user', content: user } as const]),
    ]
  );
}

/** The text as the end of the last system message. */
function withInstruction(messages: readonly Message[], text: string): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'system');
  if (last < 0) return [{ role: 'system', content: text }, ...messages];
  return messages.map((message, index) =>
    index === last ? { ...message, content: `${textOf(message.content)}\n\n${text}` } : message,
  );
}
