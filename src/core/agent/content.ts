import type { FileInfo, FileKind } from './file-value.ts';
import { fileInfo, isDataUrl } from './file-value.ts';

/** The content of a message: a text, or parts of which some are images and files. */

/** A part of a version's message. An image or file is exactly one placeholder: `{{photo}}`. */
export type TemplatePart =
  | { readonly text: string }
  | { readonly image: string }
  | { readonly file: string };

/** The variable of an image or file: what its braces contain. */
export function templateFile(part: Exclude<TemplatePart, { readonly text: string }>) {
  const kind = 'image' in part ? 'image' : 'file';
  const template = 'image' in part ? part.image : part.file;
  return { kind, variable: template.replace(/[{}\s]/g, '') } as const;
}

/** A part as it is sent. */
export type ContentPart =
  | { readonly text: string }
  | { readonly image: FileSource }
  | { readonly file: FileSource };
export type Content = string | readonly ContentPart[];

export interface FileSource {
  /** The variable that supplied it. */
  readonly variable: string;
  /** An https URL or a data URL; in a prompt that is only recorded, also the reference to a data URL. */
  readonly value: string;
}

/** The texts of a content, without its files. */
export function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');
}

/** An image or file in a content. */
export interface ContentFile {
  readonly kind: FileKind;
  readonly source: FileSource;
}

export function filesOf(content: Content): ContentFile[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) => ('text' in part ? [] : fileOf(part)));
}

export function fileOf(part: Exclude<ContentPart, { readonly text: string }>): ContentFile {
  return 'image' in part
    ? { kind: 'image', source: part.image }
    : { kind: 'file', source: part.file };
}

/** The messages with another value for each of their files. */
export function withFileValues<M extends { readonly content: Content }>(
  messages: readonly M[],
  valueFor: (file: ContentFile) => string,
): M[] {
  const replace = (part: ContentPart): ContentPart => {
    if ('text' in part) return part;
    const file = fileOf(part);
    const source = { ...file.source, value: valueFor(file) };
    return file.kind === 'image' ? { image: source } : { file: source };
  };
  return messages.map((message) => {
    const { content } = message;
    return typeof content === 'string' ? message : { ...message, content: content.map(replace) };
  });
}

/** A content as records show it: of a data URL, what it contained. */
export type RecordedContent =
  | string
  | readonly ({ text: string } | { image: string | FileInfo } | { file: string | FileInfo })[];

export function recordedContent(content: Content): RecordedContent {
  if (typeof content === 'string') return content;
  return content.map((part) => {
    if ('image' in part) return { image: recordedFile(part.image) };
    return 'file' in part ? { file: recordedFile(part.file) } : part;
  });
}

function recordedFile({ variable, value }: FileSource): string | FileInfo {
  return isDataUrl(value) ? fileInfo(variable, value) : value;
}
