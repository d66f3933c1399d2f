import type { AllowedHosts } from '../allowed-hosts.ts';
import { isObject } from '../is-object.ts';
import type { Content, ContentPart, TemplatePart } from './content.ts';
import { type FileKind, fileProblem } from './file-value.ts';
import type { ProviderMessage, SuppliedReasoning } from './provider-message.ts';

/** Messages of a prompt: as a version declares them, as a caller supplies them, and as they are sent. */

export const templateRoles = ['system', 'user', 'assistant'] as const;

/** A message of a version, or the place of a list that the caller supplies as the variable of that name. */
export type TemplateMessage =
  | {
      readonly role: (typeof templateRoles)[number];
      /** Only messages of the user have parts that are images or files. */
      readonly content: string | readonly TemplatePart[];
    }
  | { readonly placeholder: string };

export type Message =
  | { readonly role: 'system' | 'user'; readonly content: Content }
  | {
      readonly role: 'assistant';
      readonly content: Content;
      readonly toolCalls?: readonly SentToolCall[];
      /** What the caller sent of the model's reasoning. */
      readonly reasoning?: readonly SuppliedReasoning[];
      /** The same message as its provider sent it, if its execution is known. */
      readonly provided?: ProviderMessage;
    }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** An object, or a text that is no JSON object. */
  readonly arguments: unknown;
}

/** A call of an earlier turn. */
export interface SentToolCall extends ToolCall {
  /** What its provider sent beside it, such as a signature: `extra_content` of a chat completion. */
  readonly extraContent?: Readonly<Record<string, unknown>>;
}

/** The names of the lists that a caller supplies. */
export function messageLists(messages: readonly TemplateMessage[] | null | undefined): string[] {
  const names = (messages ?? []).flatMap((one) => ('placeholder' in one ? [one.placeholder] : []));
  return [...new Set(names)];
}

export interface ListReading {
  /** Whether its files are checked already: in a stored list, references may stand for data URLs. */
  readonly isStored?: boolean;
  /** The hosts whose files may have URLs that begin with `http:`. */
  readonly allowed?: AllowedHosts;
}

/**
 * Reads the list supplied as this variable (as JSON text). `problem` says what is wrong with it, as the end of a
 * sentence.
 */
export function readMessages(
  json: string,
  variable: string,
  reading: ListReading = {},
): { readonly messages: Message[] } | { readonly problem: string } {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list)) return { problem: 'must be a list of messages' };
  const messages: Message[] = [];
  const called = new Set<string>();
  for (const [index, item] of list.entries()) {
    const problem = problemOf(item, called, reading);
    if (problem !== null)
      return { problem: `must be a list of messages: item ${index} ${problem}` };
    const { content, ...rest } = item;
    messages.push({ ...rest, content: readContent(content ?? '', variable) });
    for (const call of item.toolCalls ?? []) called.add(call.id);
  }
  return { messages };
}

function readContent(content: string | Record<string, string>[], variable: string): Content {
  if (typeof content === 'string') return content;
  return content.map((part): ContentPart => {
    const { text, image, file } = part;
    if (image !== undefined) return { image: { variable, value: image } };
    return file !== undefined ? { file: { variable, value: file } } : { text: text ?? '' };
  });
}

function problemOf(
  item: unknown,
  called: ReadonlySet<string>,
  reading: ListReading,
): string | null {
  if (!isObject(item)) return 'is not an object';
  const { role, content, toolCalls, toolCallId } = item;
  const allowed = fieldsOf.get(role as Message['role']);
  if (!allowed) return `needs a "role": ${[...fieldsOf.keys()].join(', ')}`;
  const unknown = Object.keys(item).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    return `has the unknown field ${JSON.stringify(unknown.slice(0, 100))}`;
  if (toolCalls !== undefined) {
    const isValid = Array.isArray(toolCalls) && toolCalls.length > 0 && toolCalls.every(isToolCall);
    if (!isValid) return 'needs "toolCalls" with "id", "name" and "arguments" each';
  }
  const isOptional = toolCalls !== undefined && (content === undefined || content === null);
  const problem = isOptional ? null : contentProblem(role as Message['role'], content, reading);
  if (problem !== null || role !== 'tool') return problem;
  if (typeof toolCallId !== 'string') return 'needs a "toolCallId"';
  return called.has(toolCallId) ? null : 'has a "toolCallId" that matches no earlier tool call';
}

function contentProblem(
  role: Message['role'],
  content: unknown,
  { isStored = false, allowed }: ListReading,
): string | null {
  if (typeof content === 'string') return null;
  if (!Array.isArray(content) || role === 'tool') return 'needs a "content" that is a text';
  for (const part of content) {
    const [[name, value] = [], ...others] = isObject(part) ? Object.entries(part) : [];
    const isPart = ['text', 'image', 'file'].includes(name ?? '') && others.length === 0;
    if (!isPart || (name === 'text' && typeof value !== 'string')) {
      return 'needs parts with one field each: "text", "image" or "file"';
    }
    if (name === 'text') continue;
    if (role !== 'user') return 'has an image or a file, which only messages of the user may have';
    const problem = isStored ? null : fileProblem(name as FileKind, value, allowed);
    if (problem !== null) return `has a part "${name}" that ${problem}`;
  }
  return null;
}

const fieldsOf: ReadonlyMap<Message['role'], readonly string[]> = new Map([
  ['system', ['role', 'content']],
  ['user', ['role', 'content']],
  ['assistant', ['role', 'content', 'toolCalls']],
  ['tool', ['role', 'content', 'toolCallId']],
]);

function isToolCall(value: unknown): value is ToolCall {
  if (!isObject(value)) return false;
  const { id, name, arguments: given, ...others } = value;
  const isTexts = typeof id === 'string' && id !== '' && typeof name === 'string' && name !== '';
  const hasArguments = isObject(given) || typeof given === 'string';
  return isTexts && hasArguments && Object.keys(others).length === 0;
}
