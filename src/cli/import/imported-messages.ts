import { type TemplateMessage, templateRoles } from '../../core/agent/messages.ts';
import { isObject } from '../../core/is-object.ts';
import { patterns } from '../../http/contract/patterns.ts';
import type { DeclaredVersion, Draft } from './draft.ts';
import type { Located } from './located.ts';

/** Messages of prompts, in the forms of chat completions, responses and Langfuse. */

/** Converts the text of a template, and says what of it is not carried over. */
export type ReadTemplate = (at: Located, template: string) => string;

type Part = { readonly text: string } | { readonly image: string } | { readonly file: string };

const roles = new Map<string, 'system' | 'user' | 'assistant'>([
  ...templateRoles.map((role) => [role, role] as const),
  ['developer', 'system'],
]);

/** The messages of a list; a text is a message of the user. */
export function readMessages(
  draft: Draft,
  list: Located,
  template: ReadTemplate,
): TemplateMessage[] {
  return list.items().flatMap((item): TemplateMessage[] => {
    if (typeof item.value === 'string') return userMessage(template(item, item.value));
    const placeholder =
      item.get('type').value === 'placeholder' ? item.get('name').text() : undefined;
    if (placeholder !== undefined) return readPlaceholder(draft, item, placeholder);
    const role = roles.get(String(item.get('role').value));
    if (role === undefined) {
      const kind = item.get('role').text() ?? item.get('type').text() ?? 'unknown';
      draft.remark(item, `A message of the kind "${kind}" is not carried over.`);
      return [];
    }
    const content = readContent(draft, item.get('content'), role, template);
    if (content.length > 0) return [{ role, content }];
    draft.remark(item, `The message of the ${role} is empty: it is left out.`);
    return [];
  });
}

function userMessage(content: string): TemplateMessage[] {
  return content === '' ? [] : [{ role: 'user', content }];
}

function readPlaceholder(draft: Draft, item: Located, placeholder: string): TemplateMessage[] {
  if (new RegExp(patterns.variableName.source).test(placeholder)) return [{ placeholder }];
  draft.remark(
    item,
    `The placeholder "${placeholder}" is left out: its name ${patterns.variableName.requirement}.`,
  );
  return [];
}

/** A text, or parts if there are images and files or several texts. */
function readContent(
  draft: Draft,
  content: Located,
  role: string,
  template: ReadTemplate,
): string | Part[] {
  if (typeof content.value === 'string') return template(content, content.value);
  const parts = content.items().flatMap((item): Part[] => {
    const text = item.get('text').text();
    if (text !== undefined) return [{ text: template(item.get('text'), text) }];
    const file = readFile(item);
    if (file && role === 'user') return [file];
    const kind = item.get('type').text() ?? 'unknown';
    draft.remark(
      item,
      `A part of the kind "${kind}" is not carried over: an image or file must be one placeholder in a message of the user.`,
    );
    return [];
  });
  const [first, ...others] = parts;
  return first && 'text' in first && others.length === 0 ? first.text : parts;
}

/** An image or a file whose value is one placeholder. */
function readFile(item: Located): Part | null {
  const url = item.get('image_url');
  const image = isObject(url.value) ? url.get('url').value : url.value;
  const file = item.get('file').value === undefined ? item : item.get('file');
  const data = file.get('file_data').value ?? file.get('file_url').value;
  if (isFilePlaceholder(image)) return { image };
  return isFilePlaceholder(data) ? { file: data } : null;
}

function isFilePlaceholder(value: unknown): value is string {
  return typeof value === 'string' && new RegExp(patterns.filePlaceholder.source).test(value);
}

/** The short form if there is only one text of the user, maybe after one of the system. */
export function contentOf(
  messages: readonly TemplateMessage[],
): Pick<DeclaredVersion, 'system' | 'user' | 'messages'> {
  const [first, second, ...others] = messages;
  const system = textOf(first, 'system');
  const user = textOf(system === null ? first : second, 'user');
  const isShort = user?.trim() && others.length === 0 && (system !== null || second === undefined);
  if (isShort) return { ...(system !== null && { system }), user };
  return { messages: messages as DeclaredVersion['messages'] & object };
}

function textOf(message: TemplateMessage | undefined, role: string): string | null {
  if (!message || 'placeholder' in message || message.role !== role) return null;
  return typeof message.content === 'string' ? message.content : null;
}

/** Places images and files where a text of the user names their variables. */
export function withFiles(
  messages: readonly TemplateMessage[],
  kinds: ReadonlyMap<string, 'image' | 'file'>,
): TemplateMessage[] {
  if (kinds.size === 0) return [...messages];
  return messages.map((message) => {
    if ('placeholder' in message || message.role !== 'user') return message;
    if (typeof message.content !== 'string') return message;
    const parts = message.content.split(/(\{\{\s*\w+\s*\}\})/).flatMap((text): Part[] => {
      const kind = kinds.get(text.replaceAll(/[{}\s]/g, ''));
      if (kind && text.startsWith('{{')) return [{ [kind]: text } as Part];
      return text === '' ? [] : [{ text }];
    });
    const joined = joinTexts(parts);
    return joined.some((part) => !('text' in part)) ? { role: 'user', content: joined } : message;
  });
}

function joinTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && 'text' in last && 'text' in part) {
      joined[joined.length - 1] = { text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}
