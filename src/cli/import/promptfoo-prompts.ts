import { basename, extname } from 'node:path';
import type { TemplateMessage } from '../../core/agent/messages.ts';
import { isObject } from '../../core/is-object.ts';
import { CommandFailure } from '../client/command-failure.ts';
import type { DeclaredVersion } from './draft.ts';
import { contentOf, readMessages } from './imported-messages.ts';
import { fromNunjucks } from './imported-templates.ts';
import { type Located, readYaml, textFile } from './located.ts';
import type { PromptfooSource } from './promptfoo-source.ts';
import {
  findFiles,
  flatMapInOrder,
  type ReferencedFile,
  readReferenced,
} from './referenced-files.ts';

/** The prompts of promptfoo: texts, chats as JSON or YAML, and files with them. */

export interface PromptfooPrompt {
  readonly at: Located;
  readonly name: string;
  /** By which filters name it. */
  readonly labels: readonly string[];
  readonly content: Pick<DeclaredVersion, 'system' | 'user' | 'messages'>;
}

/** A text before it is read as a template. */
interface RawPrompt {
  readonly at: Located;
  readonly text: string;
  readonly name: string | undefined;
  readonly label: string | undefined;
  /** Of a chat whose messages are listed. */
  readonly messages?: Located;
  /** Where the text begins, if it is a file. */
  readonly file?: { readonly path: string; readonly line: number };
}

const textExtensions = ['txt', 'md', 'j2'];
const dataExtensions = ['json', 'jsonl', 'yaml', 'yml'];
const programs = ['js', 'cjs', 'mjs', 'ts', 'cts', 'mts', 'py', 'rb', 'sh', 'bash', 'pl'];

export async function readPrompts(
  source: PromptfooSource,
  list: Located,
  description: string | undefined,
): Promise<PromptfooPrompt[]> {
  // A former form: paths with their labels.
  const entries =
    isObject(list.value) && !('id' in list.value) && !('raw' in list.value)
      ? list.members().map(([path, label]) => label.with({ id: path, label: label.value }))
      : list.items();
  const raw = await flatMapInOrder(entries, (entry) => readEntry(source, entry));
  const unnamed = raw.filter(({ name }) => name === undefined);
  return raw.flatMap((prompt) => {
    const number = unnamed.length > 1 ? ` ${unnamed.indexOf(prompt) + 1}` : '';
    const name = prompt.name ?? `${description?.slice(0, 150) ?? 'Prompt'}${number}`;
    const messages = messagesOf(source, prompt);
    if (messages.length === 0) return [];
    const labels = [prompt.label, name].filter((label) => label !== undefined);
    return [{ at: prompt.at, name, labels, content: contentOf(messages) }];
  });
}

async function readEntry(source: PromptfooSource, entry: Located): Promise<RawPrompt[]> {
  const label = entry.get('label').text();
  const messages = entry.get('messages');
  if (Array.isArray(messages.value)) {
    const list = messages.with(
      await flatMapInOrder(messages.items(), async (item) => [await loaded(source, item)]),
    );
    return [{ at: messages, text: '', name: label, label, messages: list }];
  }
  const raw = isObject(entry.value) ? entry.get('raw') : entry;
  const at = raw.text() === undefined ? entry.get('id') : raw;
  const text = at.text();
  if (text === undefined) {
    source.draft.remark(entry, 'The prompt is left out: it has no text and no file.');
    return [];
  }
  if (/^(exec|langfuse|portkey|helicone|promptfoo|package):/.test(text)) {
    source.draft.remark(
      at,
      `The prompt "${text}" is left out: it is made by a program or another service.`,
    );
    return [];
  }
  if (!isPath(text)) return [{ at, text, name: label, label }];
  const files = await findFiles(source.folder, text);
  if (files.length === 0) source.draft.remark(at, `No file matches ${text}.`);
  const read = await flatMapInOrder(files, (file) => readFileOf(source, at, file));
  return read.map((prompt) => ({
    ...prompt,
    name: label ?? prompt.name,
    label: label ?? prompt.label,
  }));
}

/** A message whose text may be in a file. */
async function loaded({ draft, folder, signal }: PromptfooSource, item: Located): Promise<unknown> {
  const content = item.get('content');
  if (!content.text()?.startsWith('file://')) return item.value;
  const [file] = await findFiles(folder, content.text() ?? '');
  const isText = file && [...textExtensions, ...dataExtensions].includes(file.extension);
  const text = isText ? (await readReferenced(file.path, signal)).trim() : null;
  if (text === null)
    draft.remark(content, 'The text is made by a program: the message is left out.');
  return { ...(item.value as object), content: text ?? '' };
}

/** Texts on one line that end like the name of a file are one, as promptfoo takes them. */
function isPath(text: string): boolean {
  if (text.startsWith('file://')) return true;
  const extensions = [...textExtensions, ...dataExtensions, ...programs, 'csv'];
  return (
    !/[\n{}]/.test(text) &&
    extensions.includes(
      extname(text)
        .slice(1)
        .replace(/[:#].*/, ''),
    )
  );
}

/** Names of files that are those of many prompts. */
const unspecific = /^prompts?[-_\d]*$/i;

async function readFileOf(
  { draft, signal }: PromptfooSource,
  at: Located,
  { path, extension }: ReferencedFile,
): Promise<RawPrompt[]> {
  if (programs.includes(extension)) {
    draft.remark(at, `The prompt in ${path} is left out: it is made by a program.`);
    return [];
  }
  if (![...textExtensions, ...dataExtensions].includes(extension)) {
    draft.remark(at, `The prompts in ${path} are left out: files of this kind are not read.`);
    return [];
  }
  const text = await readReferenced(path, signal);
  const base = basename(path, extname(path));
  const name = unspecific.test(base) ? undefined : base;
  const parts =
    extension === 'txt'
      ? split(text, /^---[ \t]*$/m)
      : extension === 'jsonl'
        ? split(text, /\n/)
        : [{ text, line: 1 }];
  return parts.map((part) => ({
    at: textFile(part.text, path, part.line),
    text: part.text.trim(),
    name,
    label: path,
    file: { path, line: part.line },
  }));
}

/** Parts that are not blank, with their first line. */
function split(text: string, separator: RegExp): { text: string; line: number }[] {
  let line = 1;
  return text.split(separator).flatMap((part) => {
    const own = { text: part, line };
    line += part.split('\n').length - (separator.source === '\\n' ? 0 : 1);
    return part.trim() === '' ? [] : [own];
  });
}

/** A chat, or the text as a message of the user. */
function messagesOf({ draft }: PromptfooSource, prompt: RawPrompt): TemplateMessage[] {
  const template = (place: Located, part: string) => fromNunjucks(draft, place, part);
  return readMessages(draft, readChat(prompt) ?? prompt.at.with(prompt.text), template);
}

/** `{{value | dump}}` outside of quotes is the JSON of a value: as a text here. */
const dumped = /(?<!["\w])\{\{-?\s*(\w+)\s*\|\s*dump\s*-?\}\}(?!["\w])/g;

/** The messages of a chat as JSON or YAML; null for another text. */
function readChat({ text, at, file, messages }: RawPrompt): Located | null {
  if (messages) return messages;
  if (!/^(\[|-\s+role:|-\s*\{|\{\s*"messages")/.test(text)) return null;
  try {
    // In a file, remarks name the lines of its messages.
    const source = file ? '\n'.repeat(file.line - 1) + String(at.value) : text;
    const read = readYaml(source.replaceAll(dumped, '"{{$1}}"'), file?.path ?? '');
    const list = isObject(read.value) ? read.get('messages') : read;
    if (!list.items().every(({ value }) => isObject(value) && 'role' in value)) return null;
    return file ? list : at.with(list.value);
  } catch (error) {
    if (error instanceof CommandFailure) return null;
    throw error;
  }
}
