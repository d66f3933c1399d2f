import { type Content, type ContentFile, fileOf, templateFile } from './content.ts';
import type { CallAdditions } from './conversation.ts';
import { type FileKind, fileInfo } from './file-value.ts';
import { type Message, readMessages, type TemplateMessage } from './messages.ts';
import { type Prompt, splitTemplate, type Template } from './prompt.ts';
import { correctionText } from './response-format.ts';
import { messagesOf } from './sent-prompt.ts';
import { withReasoning } from './sent-reasoning.ts';

/**
 * What a provider may charge for in a prompt, counted without a tokenizer: no token has less than one byte.
 *
 * - `sizeOfPrompt` counts a prompt as it will be sent.
 * - `sizeOfCall` counts it before it is rendered: a sum over the texts of its variables. It is never less than the size of what is
 *   rendered of it.
 */
export interface PromptSize {
  /** UTF-8 bytes of all texts, and of the JSON of earlier calls of tools and of reasoning. */
  readonly textBytes: number;
  readonly messages: number;
  /** Of the JSON of the tools, and of the schema of the output, of which some providers make a tool. */
  readonly toolBytes: number;
  readonly images: number;
  /** What a file is whose tokens its size does not bound, such as `application/pdf`; null without one. */
  readonly otherFile: string | null;
}

export const emptySize: PromptSize = {
  ...{ textBytes: 0, messages: 0, toolBytes: 0, images: 0, otherFile: null },
};

export function sumSizes(sizes: readonly PromptSize[]): PromptSize {
  const sum = { ...emptySize };
  for (const { textBytes, messages, toolBytes, images, otherFile } of sizes) {
    sum.textBytes += textBytes;
    sum.messages += messages;
    sum.toolBytes += toolBytes;
    sum.images += images;
    sum.otherFile ??= otherFile;
  }
  return sum;
}

/** A version before it is rendered. */
export interface TemplateSize {
  /** Without its variables, and without the schema of its output, which an agent may replace. */
  readonly fixed: PromptSize;
  /** How often each variable occurs as a text, as a list of messages, and as an image or file. */
  readonly texts: ReadonlyMap<string, number>;
  readonly lists: ReadonlyMap<string, number>;
  readonly files: ReadonlyMap<string, { readonly kind: FileKind; readonly count: number }>;
}

/** By template, which a cache keeps for all executions of a version. */
const knownSizes = new WeakMap<Template, TemplateSize>();

export function sizeOfTemplate(template: Template): TemplateSize {
  const size = knownSizes.get(template) ?? templateSize(template);
  knownSizes.set(template, size);
  return size;
}

function templateSize({ system, user, messages, tools }: Template): TemplateSize {
  const texts = new Map<string, number>();
  const lists = new Map<string, number>();
  const files = new Map<string, { readonly kind: FileKind; readonly count: number }>();
  const count = (counts: Map<string, number>, name: string) =>
    counts.set(name, (counts.get(name) ?? 0) + 1);
  const ofText = (text: string): PromptSize => {
    const { fixed, names } = splitTemplate(text);
    for (const name of names) count(texts, name);
    return sizeOfText(fixed);
  };
  const ofMessage = (message: TemplateMessage): PromptSize[] => {
    if ('placeholder' in message) {
      count(lists, message.placeholder);
      return [];
    }
    const { content } = message;
    if (typeof content === 'string') return [oneMessage, ofText(content)];
    const parts = content.map((part): PromptSize => {
      if ('text' in part) return ofText(part.text);
      const { kind, variable } = templateFile(part);
      files.set(variable, { kind, count: (files.get(variable)?.count ?? 0) + 1 });
      return emptySize;
    });
    return [oneMessage, sizeOfBytes(partBytes * content.length), ...parts];
  };
  const short = [system, user].flatMap((text) =>
    typeof text === 'string' ? [oneMessage, ofText(text)] : [],
  );
  const all = messages ? messages.flatMap(ofMessage) : short;
  const fixed = sumSizes([...all, sizeOfTools(tools ?? [])]);
  return { fixed, texts, lists, files };
}

/** What a call sends with a version. */
export interface SizedCall {
  /** The texts of the variables: supplied values, else defaults. Files may be references. */
  readonly texts: ReadonlyMap<string, string>;
  readonly additions: CallAdditions | null;
  /** The schema of the output as JSON; null for a text. */
  readonly schema: string | null;
}

export function sizeOfCall(
  template: TemplateSize,
  { texts, additions, schema }: SizedCall,
): PromptSize {
  let textBytes = 0;
  for (const [name, count] of template.texts) {
    textBytes += count * bytesOf(texts.get(name) ?? '');
  }
  const lists = [...template.lists].flatMap(([name, count]) => {
    const list = readMessages(texts.get(name) ?? '[]', name, { isStored: true });
    if ('problem' in list) throw new Error(`A message list of the prompt ${list.problem}.`);
    const { reasoning } = additions ?? {};
    const isSent = reasoning?.list === name;
    const sent = isSent ? withReasoning(list.messages, reasoning.messages) : list.messages;
    return Array<PromptSize>(count).fill(sizeOfMessages(sent));
  });
  const files = [...template.files].flatMap(([variable, { kind, count }]) => {
    const value = texts.get(variable);
    if (value === undefined) return [];
    return Array<PromptSize>(count).fill(sizeOfFile({ kind, source: { variable, value } }));
  });
  return sumSizes([
    ...[template.fixed, sizeOfBytes(textBytes), sizeOfAdditions(additions), sizeOfFormat(schema)],
    ...[...lists, ...files],
  ]);
}

/** What is sent with a rendered prompt. */
export interface SentBeside {
  readonly schema: string | null;
  /** Why the previous answer was not accepted; null for none. */
  readonly correction: string | null;
}

export function sizeOfPrompt(prompt: Prompt, { schema, correction }: SentBeside): PromptSize {
  return sumSizes([
    sizeOfMessages(messagesOf(prompt)),
    sizeOfTools(prompt.tools ?? []),
    sizeOfFormat(schema),
    ...(correction === null ? [] : [oneMessage, sizeOfText(correctionText(correction))]),
  ]);
}

function sizeOfAdditions(additions: CallAdditions | null): PromptSize {
  if (additions === null) return emptySize;
  const { instructions, tools } = additions;
  // Joined to the text of the version, or a message of its own.
  const added = instructions === null ? [] : [oneMessage, sizeOfText(`\n\n${instructions}`)];
  return sumSizes([...added, sizeOfTools(tools)]);
}

function sizeOfMessages(messages: readonly Message[]): PromptSize {
  const names = new Map<string, string>();
  return sumSizes(messages.flatMap((message) => sizesOfMessage(message, names)));
}

/** @param names of the tools that were called, by the ids of the calls: some providers want it with the result. */
function sizesOfMessage(message: Message, names: Map<string, string>): PromptSize[] {
  const sizes = [oneMessage, ...sizesOfContent(message.content)];
  if (message.role === 'tool') {
    const name = names.get(message.toolCallId) ?? '';
    sizes.push(sizeOfText(message.toolCallId), sizeOfText(name), sizeOfText(name));
  }
  if (message.role !== 'assistant') return sizes;
  const { toolCalls = [], reasoning, provided } = message;
  for (const call of toolCalls) {
    names.set(call.id, call.name);
    sizes.push(sizeOfText(JSON.stringify(call)), sizeOfBytes(callBytes));
  }
  for (const each of [reasoning, provided]) if (each) sizes.push(sizeOfText(JSON.stringify(each)));
  return sizes;
}

function sizesOfContent(content: Content): PromptSize[] {
  if (typeof content === 'string') return [sizeOfText(content)];
  const parts = content.map((part) =>
    'text' in part ? sizeOfText(part.text) : sizeOfFile(fileOf(part)),
  );
  return [sizeOfBytes(partBytes * content.length), ...parts];
}

function sizeOfFile({ kind, source }: ContentFile): PromptSize {
  const { type, bytes = 0 } = fileInfo(source.variable, source.value);
  const name = sizeOfBytes(bytesOf(source.variable) + fileNameBytes);
  if (kind === 'image' || type?.startsWith('image/')) return { ...name, images: 1 };
  if (type?.startsWith('text/')) return { ...name, textBytes: name.textBytes + bytes };
  return { ...name, otherFile: type ?? 'file at a URL' };
}

function sizeOfTools(tools: readonly unknown[]): PromptSize {
  return tools.length === 0
    ? emptySize
    : { ...emptySize, toolBytes: bytesOf(JSON.stringify(tools)) };
}

/** A schema is asked for by an option, of which some packages make a tool, or by a text, or by both. */
function sizeOfFormat(schema: string | null): PromptSize {
  if (schema === null) return emptySize;
  const length = bytesOf(schema);
  return { ...oneMessage, textBytes: length + instructionBytes, toolBytes: length };
}

function sizeOfText(text: string): PromptSize {
  return sizeOfBytes(bytesOf(text));
}

function sizeOfBytes(textBytes: number): PromptSize {
  return { ...emptySize, textBytes };
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

const oneMessage: PromptSize = { ...emptySize, messages: 1 };
/** The separator of parts of a message. */
const partBytes = 4;
/** What providers write around a call of a tool. */
const callBytes = 16;
/** The number and the extension of a file's name. */
const fileNameBytes = 16;
/** The sentence that asks for JSON, without its schema. */
const instructionBytes = 128;
