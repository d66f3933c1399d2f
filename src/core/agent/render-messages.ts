import { type Message, readMessages, type TemplateMessage } from './messages.ts';

/**
 * Renders the messages of a version. `fill` replaces the placeholders of a text; supplied lists are inserted unchanged.
 * Admission has checked the lists.
 */
export function renderMessages(
  messages: readonly TemplateMessage[],
  texts: ReadonlyMap<string, string>,
  fill: (text: string) => string,
): Message[] {
  return messages.flatMap((message): readonly Message[] => {
    if (!('placeholder' in message)) return [{ ...message, content: fill(message.content) }];
    const list = readMessages(texts.get(message.placeholder) ?? '[]');
    if ('problem' in list) throw new Error(`A message list of the prompt ${list.problem}.`);
    return list.messages;
  });
}

/** The system messages joined; null if there are none. */
export function systemTextOf(messages: readonly Message[]): string | null {
  const texts = messages.flatMap(({ role, content }) => (role === 'system' ? [content] : []));
  return texts.length === 0 ? null : texts.join('\n\n');
}

export function lastUserText(messages: readonly Message[]): string | null {
  return messages.findLast(({ role }) => role === 'user')?.content ?? null;
}
