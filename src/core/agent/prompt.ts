import { invalidRequest } from '../failure.ts';
import { stringEnd } from '../json.ts';
import type { CallSettings } from './call-settings.ts';
import { type TemplatePart, templateFile } from './content.ts';
import type { FileKind } from './file-value.ts';
import { type Message, messageLists, type TemplateMessage } from './messages.ts';
import { renderedCharsMax } from './model-settings.ts';
import { offeredTool } from './offered-tool.ts';
import { lastUserText, renderMessages, systemTextOf } from './render-messages.ts';
import type { ResponseFormat } from './response-format.ts';
import type { SentReasoning } from './sent-reasoning.ts';
import type { Tool, ToolChoice, VersionContent } from './version-content.ts';

/** Placeholders and their substitution: `{{name}}` with optional inner blanks, one pass; nothing else is syntax. */

const placeholder = /\{\{[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\}\}/g;

/** Limits: characters of a variable's name; placeholders of a version and variables of an agent. */
export const variableNameMax = 100;
export const variablesMax = 200;
/** A valid variable name. */
export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface Template {
  readonly system: string | null;
  /** Null if there are messages. */
  readonly user: string | null;
  readonly messages?: readonly TemplateMessage[] | null;
  readonly tools?: readonly Tool[] | null;
  readonly toolChoice?: ToolChoice | null;
  readonly executedTools?: VersionContent['executedTools'];
  /** Null or absent for text. */
  readonly responseFormat?: ResponseFormat | null;
}

/** A prompt as sent. */
export interface Prompt {
  /** The system messages joined. */
  readonly system: string | null;
  /** The last user message. */
  readonly user: string | null;
  /** Left out for the short form. */
  readonly messages?: readonly Message[];
  readonly tools?: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly settings?: CallSettings;
}

/** The names of all placeholders, each once, in order of first use. */
export function placeholders(template: Template): string[] {
  const names = new Set<string>();
  const add = (text: string) => {
    for (const match of text.matchAll(placeholder)) names.add(match[1] ?? '');
  };
  for (const text of [template.system ?? '', template.user ?? '']) add(text);
  for (const message of template.messages ?? []) {
    if ('placeholder' in message) names.add(message.placeholder);
    else templatesOf(message.content).forEach(add);
  }
  return [...names];
}

/** The text without its placeholders, and the name of each of these. */
export function splitTemplate(text: string) {
  const names = [...text.matchAll(placeholder)].map(([, name = '']) => name);
  return { fixed: text.replace(placeholder, ''), names };
}

/** The variables whose values are images or files. A variable used as both must be an image. */
export function fileVariables(messages: Template['messages']): Record<string, FileKind> {
  const kinds = new Map<string, FileKind>();
  for (const message of messages ?? []) {
    if ('placeholder' in message || typeof message.content === 'string') continue;
    for (const part of message.content) {
      if ('text' in part) continue;
      const { kind, variable } = templateFile(part);
      if (kinds.get(variable) !== 'image') kinds.set(variable, kind);
    }
  }
  return Object.fromEntries(kinds);
}

/** @throws {CallFailure} if a variable is an image or file in one place, and a text or list of messages in another */
export function requireOneUse(template: Template): void {
  const files = Object.keys(fileVariables(template.messages));
  if (files.length === 0) return;
  const lists = messageLists(template.messages);
  const texts = placeholders({
    system: contentsOf(template.messages).join(''),
    user: null,
  });
  const twice = files.find((name) => lists.includes(name) || texts.includes(name));
  if (twice === undefined) return;
  const other = lists.includes(twice) ? 'a list of messages' : 'a text';
  throw invalidRequest(`The placeholder "${twice}" is an image or a file, and also ${other}.`);
}

/** A text that looks like a placeholder but is not valid: it goes to the model unchanged. */
export interface PlaceholderWarning {
  /** With its braces. */
  readonly placeholder: string;
  readonly template: 'system' | 'user' | 'messages';
}

/** Characters between braces that may be meant as a placeholder; warnings of a version. */
const meantAsPlaceholder = /\{\{[^{}]{0,200}\}\}/g;
const warningsMax = 100;

/** The invalid placeholders of each template, each once, in order. */
export function placeholderWarnings({
  system,
  user,
  messages,
}: Omit<Template, 'responseFormat'>): PlaceholderWarning[] {
  const invalid = (text: string) => {
    const found = text.match(meantAsPlaceholder) ?? [];
    return [...new Set(found)].filter((one) => one.replace(placeholder, '') !== '');
  };
  return [
    ...invalid(system ?? '').map((one) => ({ placeholder: one, template: 'system' as const })),
    ...invalid(user ?? '').map((one) => ({ placeholder: one, template: 'user' as const })),
    ...[...new Set(contentsOf(messages).flatMap(invalid))].map((one) => ({
      placeholder: one,
      template: 'messages' as const,
    })),
  ].slice(0, warningsMax);
}

/** As `placeholders`; throws if there are more than an agent can declare. */
export function declarablePlaceholders(template: Template): string[] {
  const names = placeholders(template);
  if (names.length > variablesMax) {
    const message = `The templates have ${names.length} placeholders; at most ${variablesMax} are allowed.`;
    throw invalidRequest(message);
  }
  const long = names.find((name) => name.length > variableNameMax);
  if (long === undefined) return names;
  const message = `The placeholder "${long.slice(0, variableNameMax)}…" is longer than ${variableNameMax} characters.`;
  throw invalidRequest(message);
}

/**
 * Replaces every placeholder by its text or the empty string, in one pass: a value that contains `{{x}}` stays
 * unchanged.
 */
export function render(
  template: Template,
  texts: ReadonlyMap<string, string>,
  reasoning: SentReasoning | null = null,
): Prompt {
  const fill = (text: string) =>
    text.replace(placeholder, (_, name: string) => texts.get(name) ?? '');
  const { system, user, messages, toolChoice, executedTools } = template;
  const tools = executedTools ? executedTools.map(offeredTool) : template.tools;
  const offered = { ...(tools && { tools }), ...(toolChoice && { toolChoice }) };
  if (messages) {
    const sent = renderMessages(messages, texts, fill, reasoning);
    return { system: systemTextOf(sent), user: lastUserText(sent), messages: sent, ...offered };
  }
  return { system: system && fill(system), user: user && fill(user), ...offered };
}

/** The characters of the rendered prompt: a short template can repeat a long value. */
export function renderedChars(template: Template, texts: ReadonlyMap<string, string>): number {
  let chars = 0;
  const contents = contentsOf(template.messages);
  for (const text of [template.system ?? '', template.user ?? '', ...contents]) {
    chars += text.length;
    for (const [whole, name] of text.matchAll(placeholder)) {
      chars += (texts.get(name ?? '')?.length ?? 0) - whole.length;
    }
  }
  for (const name of messageLists(template.messages)) chars += charsOfList(texts.get(name) ?? '');
  return chars;
}

/** The characters of a list of messages as compact JSON, without its files: these are no text. */
function charsOfList(list: string): number {
  if (list.length <= renderedCharsMax) return list.length;
  const filePart = /\{"(?:image|file)":(?=" *data:)/gi;
  let chars = list.length;
  while (filePart.test(list)) {
    const end = stringEnd(list, filePart.lastIndex);
    chars -= end - filePart.lastIndex;
    filePart.lastIndex = end;
  }
  return chars;
}

/** The templates of all texts in these messages. */
function contentsOf(messages: Template['messages']): string[] {
  return (messages ?? []).flatMap((message) => {
    if ('placeholder' in message) return [];
    const { content } = message;
    return typeof content === 'string'
      ? content
      : content.flatMap((part) => ('text' in part ? part.text : []));
  });
}

/** Those of images and files as well. */
function templatesOf(content: string | readonly TemplatePart[]): string[] {
  return typeof content === 'string' ? [content] : content.flatMap((part) => Object.values(part));
}

/** The placeholders that are in no variable list and have no default. */
export function undeclared(
  names: readonly string[],
  agent: {
    readonly requiredVariables: readonly string[];
    readonly optionalVariables: readonly string[];
    readonly defaultVariableValues: Readonly<Record<string, unknown>>;
  },
): string[] {
  const declared = new Set([
    ...agent.requiredVariables,
    ...agent.optionalVariables,
    ...Object.keys(agent.defaultVariableValues),
  ]);
  return names.filter((name) => !declared.has(name));
}
