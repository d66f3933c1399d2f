import type { AllowedHosts } from '../allowed-hosts.ts';
import { compact, members, stringEnd } from '../json.ts';
import { type Content, filesOf, withFileValues } from './content.ts';
import {
  type FileInfo,
  type FileKind,
  fileInfo,
  fileProblem,
  isDataUrl,
  isReference,
  referenceTo,
  requireFile,
  storedDataUrl,
} from './file-value.ts';
import { readMessages } from './messages.ts';
import type { Variables } from './variables.ts';

/**
 * The files among the variables of an execution. Data URLs are moved out of the variables, so that lists and searches need
 * not read them: the variables contain a reference, and the data is stored once beside them.
 */

/** What an agent's version and its defaults say about files. */
export interface FileUse {
  /** The variables whose values are images or files. */
  readonly fileVariables: Readonly<Record<string, FileKind>>;
  /** The variables whose values are lists of messages, which may contain files. */
  readonly messageLists: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
}

export interface StoredVariables {
  /** The variables, with references instead of data URLs. */
  readonly json: string;
  /** `FileInfo[]` as JSON; null without files. */
  readonly files: string | null;
  /** The data URLs in base64 by reference, as JSON; null if there are none. */
  readonly fileData: string | null;
}

/** The first of these variables whose value is supplied and no image or file. */
export function malformedFile(
  { fileVariables }: Pick<FileUse, 'fileVariables'>,
  { values }: Variables,
  allowed?: AllowedHosts,
): { readonly variable: string; readonly problem: string } | null {
  for (const [variable, kind] of Object.entries(fileVariables)) {
    const json = values.get(variable) ?? 'null';
    const problem = json === 'null' ? null : fileProblem(kind, JSON.parse(json), allowed);
    if (problem !== null) return { variable, problem };
  }
  return null;
}

/** @param variables valid, as `malformedFile` and `malformedList` have checked */
export function storeFiles(use: FileUse, variables: Variables): StoredVariables {
  const found = filesAmong(use, variables);
  if (found.length === 0) return { json: variables.json, files: null, fileData: null };
  const references = new Map<string, string>();
  const data: Record<string, string> = {};
  const files = found.map(({ variable, value }): FileInfo => {
    if (!isDataUrl(value)) return fileInfo(variable, value);
    const reference = references.get(value) ?? store(value);
    return fileInfo(variable, reference);
  });
  function store(value: string): string {
    const file = requireFile(value);
    const reference = referenceTo(file);
    references.set(value, reference);
    data[reference] = storedDataUrl(file);
    return reference;
  }
  return {
    json: replaceStrings(variables.json, (text) => {
      const reference = references.get(text);
      return reference && JSON.stringify(reference);
    }),
    files: JSON.stringify(files),
    fileData: references.size === 0 ? null : JSON.stringify(data),
  };
}

function filesAmong({ fileVariables, messageLists, defaults }: FileUse, { values }: Variables) {
  const supplied = (name: string) => {
    const json = values.get(name) ?? 'null';
    return json === 'null' ? null : json;
  };
  const direct = Object.keys(fileVariables).flatMap((variable) => {
    const json = supplied(variable);
    const value: unknown = json === null ? defaults[variable] : JSON.parse(json);
    return typeof value === 'string' ? { variable, value } : [];
  });
  const listed = messageLists.flatMap((variable) => {
    const json = supplied(variable) ?? JSON.stringify(defaults[variable] ?? []);
    const list = readMessages(json, variable, { isStored: true });
    return 'messages' in list
      ? list.messages.flatMap(({ content }) => filesOf(content).map(({ source }) => source))
      : [];
  });
  return [...direct, ...listed];
}

/** The variables as they were sent, with files in base64. The data is put in as the JSON text that it is: it may be long. */
export function restoreFiles(json: string, fileData: string | null): string {
  if (fileData === null) return json;
  const data = filesByReference(fileData);
  return replaceStrings(json, (text) => (isReference(text) ? data.get(text) : undefined));
}

/** Each as the JSON text that it is. */
function filesByReference(fileData: string): ReadonlyMap<string, string> {
  return new Map(members(compact(fileData)).map(({ name, text }) => [name, text]));
}

/** Rendered messages with their files: these are put in only for a call of the model, because all else needs no more than references. */
export function withFileData<M extends { readonly content: Content }>(
  messages: readonly M[],
  fileData: string | null,
): readonly M[] {
  if (fileData === null) return messages;
  const data = filesByReference(fileData);
  return withFileValues(messages, ({ source: { value } }) => textOf(data.get(value)) ?? value);
}

/** Parsing would copy it. */
function textOf(json: string | undefined): string | undefined {
  return json?.includes('\\') ? JSON.parse(json) : json?.slice(1, -1);
}

/** Replaces strings in a JSON text, by other JSON; `undefined` leaves one as it is. */
function replaceStrings(json: string, replacement: (text: string) => string | undefined): string {
  let out = '';
  let from = 0;
  for (let at = json.indexOf('"'); at >= 0; ) {
    const end = stringEnd(json, at);
    const replaced = replacement(JSON.parse(json.slice(at, end)) as string);
    if (replaced !== undefined) {
      out += json.slice(from, at) + replaced;
      from = end;
    }
    at = json.indexOf('"', end);
  }
  return out + json.slice(from);
}
