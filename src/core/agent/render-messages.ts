import {
  type Content,
  type ContentPart,
  type TemplatePart,
  templateFile,
  textOf,
} from './content.ts';
import { type Message, readMessages, type TemplateMessage } from './messages.ts';
import { type SentReasoning, withReasoning } from './sent-reasoning.ts';

/**
 * Renders the messages of a version. `fill` replaces the placeholders of a text; supplied lists are inserted with the reasoning that was sent with them.
 * An image or file without a value is left out. Admission has checked the lists and files.
 */
export function renderMessages(
  messages: readonly TemplateMessage[],
  texts: ReadonlyMap<string, string>,
  fill: (text: string) => string,
  reasoning: SentReasoning | null = null,
): Message[] {
  return messages.flatMap((message): readonly Message[] => {
    if (!('placeholder' in message)) {
      return [{ ...message, content: renderContent(message.content, texts, fill) }];
    }
    const { placeholder } = message;
    const list = readMessages(texts.get(placeholder) ?? '[]', placeholder, { isStored: true });
    if ('problem' in list) throw new Error(`A message list of the prompt ${list.problem}.`);
    const isSent = reasoning?.list === placeholder;
    return isSent ? withReasoning(list.messages, reasoning.messages) : list.messages;
  });
}

function renderContent(
  content: string | readonly TemplatePart[],
  texts: ReadonlyMap<string, string>,
  fill: (text: string) => string,
): Content {
  if (typeof content === 'string') return fill(content);
  return content.flatMap((part): ContentPart[] => {
    if ('text' in part) return [{ text: fill(part.text) }];
    const { kind, variable } = templateFile(part);
    const value = texts.get(variable);
    if (value === undefined) return [];
    const source = { variable, value };
    return [kind === 'image' ? { image: source } : { file: source }];
  });
}

/** The texts of the system messages joined; null if there are none. */
export function systemTextOf(messages: readonly Message[]): string | null {
  const texts = messages.flatMap(({ role, content }) => (role === 'system' ? textOf(content) : []));
  return texts.length === 0 ? null : texts.join('\n\n');
}

export function lastUserText(messages: readonly Message[]): string | null {
  const last = messages.findLast(({ role }) => role === 'user');
  return last ? textOf(last.content) : null;
}
