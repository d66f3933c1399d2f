import { variableText } from '../agent/variables.ts';
import { elements, stringEnd } from '../json.ts';
import type { JsonInText, Unreadable } from '../json-in-text.ts';
import { readInto, withinOutput } from './step-output.ts';

/**
 * A JSON text with indexed access: the input of a workflow run, the output of a step, a list, or one of its items. It
 * is immutable and may be long, so it is scanned once for all lookups of any depth.
 */
export interface Document {
  /** As stored: text written by a model is a JSON string. */
  readonly json: string;
  /** As compact JSON: text written by a model is parsed if it is JSON. */
  inside(): string;
  /** What paths lead into: in text written by a model, its one object or array. */
  read(): JsonInText;
  /**
   * Why a path leads nowhere: it leads into text written by a model that holds no object or array for it, or several.
   * Null if it leads into JSON, whether or not there is a value.
   */
  unreadable(path: Path): Unreadable | null;
  /** The value at a path; `null` if there is none. Without a path, the stored text. */
  at(path: Path): string;
  /** The length of `textWithin` at a path, computed without building the text. */
  charsWithin(path: Path): number;
  /** The elements of a list. */
  elements(): readonly string[];
}

/** Member names and list indexes. */
export type Path = readonly (string | number)[];

export function documentOf(json: string): Document {
  // A list is stored by a step that fans out: texts in it were written by models.
  return createDocument(json, readInto, json.startsWith('['));
}

/** As `documentOf`, for an element of a list of outputs. */
export function documentOfOutput(json: string): Document {
  return createDocument(json, readInto);
}

/** As `documentOf`, for an element of another list: a text stays a text, whatever it contains. */
export function documentOfItem(json: string): Document {
  return createDocument(json, (whole) => ({ kind: 'json', json: whole, whole: true }));
}

/** What a value contributes inside other text, escaped as in a JSON string; `null` contributes nothing. */
export function textWithin(json: string): string {
  return json === 'null' ? '' : JSON.stringify(variableText(json)).slice(1, -1);
}

function createDocument(
  json: string,
  look: (json: string) => JsonInText,
  ofOutputs = false,
): Document {
  let found: { readonly read: JsonInText; readonly root: JsonNode | null } | null = null;
  let inside: string | null = null;
  let charsOfWhole: number | null = null;
  let parts: readonly string[] | null = null;
  const outputs = memoizeForTurn(() => new Map<number, Document>());

  function inner() {
    if (!found) {
      const read = look(json);
      const text = read.kind === 'json' ? read.json : null;
      const ends = memoizeForTurn(() => endsOf(text ?? ''));
      found = { read, root: text === null ? null : nodeAt(text, 0, ends) };
    }
    return found;
  }

  function find(path: Path): JsonNode | null {
    let node = inner().root;
    for (const part of path) node = node?.part(part) ?? null;
    return node;
  }

  /** The text of a model in a list of outputs, if the path leads into one. */
  function output([index, ...rest]: Path): { document: Document; path: Path } | null {
    if (!ofOutputs || typeof index !== 'number' || rest.length === 0) return null;
    const text = find([index])?.text();
    if (!text?.startsWith('"')) return null;
    const document = outputs().get(index) ?? documentOfOutput(text);
    outputs().set(index, document);
    return { document, path: rest };
  }

  return {
    json,
    inside() {
      const read = found?.read;
      if (read?.kind === 'json' && read.whole) return read.json;
      inside ??= look === readInto ? withinOutput(json) : json;
      return inside;
    },
    read: () => inner().read,
    unreadable(path) {
      const [first] = path;
      if (first === undefined) return null;
      const text = output(path);
      if (text) return text.document.unreadable(text.path);
      const { read } = inner();
      if (read.kind !== 'json') return read.kind;
      // A footnote such as [1] is no object.
      const opening = typeof first === 'number' ? '[' : '{';
      return read.whole || read.json.startsWith(opening) ? null : 'none';
    },
    at(path) {
      if (path.length === 0) return json;
      const text = output(path);
      if (text) return text.document.at(text.path);
      return find(path)?.text() ?? 'null';
    },
    charsWithin(path) {
      const text = output(path);
      if (text) return text.document.charsWithin(text.path);
      if (path.length > 0) return find(path)?.charsWithin() ?? 0;
      charsOfWhole ??= textWithin(json).length;
      return charsOfWhole;
    },
    elements() {
      parts ??= elements(json);
      return parts;
    },
  };
}

/** One value within a text. Resolved values are cached by their position. */
interface JsonNode {
  text(): string;
  charsWithin(): number;
  part(name: string | number): JsonNode | null;
}

/** Where the elements of a list or the members of an object begin. */
type Parts = readonly number[] | ReadonlyMap<string, number>;

function nodeAt(whole: string, from: number, ends: () => Uint32Array): JsonNode {
  const known = new Map<string | number, JsonNode | null>();
  const parts = memoizeForTurn(() => partsAt(whole, from, ends()));
  const letter = whole.charAt(from);
  let chars: number | null = null;

  function find(name: string | number): JsonNode | null {
    if (letter !== (typeof name === 'number' ? '[' : '{')) return null;
    const of = parts();
    const at = of instanceof Map ? of.get(name) : (of as readonly number[])[Number(name)];
    return at === undefined ? null : nodeAt(whole, at, ends);
  }

  const text = () => whole.slice(from, endOf(whole, from, ends));
  return {
    text,
    charsWithin() {
      chars ??= textWithin(text()).length;
      return chars;
    },
    part(name) {
      let node = known.get(name);
      if (node === undefined) {
        node = find(name);
        known.set(name, node);
      }
      return node;
    },
  };
}

/** If a name is sent twice, the last value wins. */
function partsAt(whole: string, from: number, ends: Uint32Array): Parts {
  const last = ends[from] ?? 0;
  const starts: number[] = [];
  const members = new Map<string, number>();
  const isList = whole.charAt(from) === '[';
  for (let at = from + 1; at < last; ) {
    let value = at;
    if (isList) starts.push(at);
    else {
      value = stringEnd(whole, at) + 1;
      members.set(JSON.parse(whole.slice(at, value - 1)) as string, value);
    }
    at = endOf(whole, value, () => ends) + 1;
  }
  return isList ? starts : members;
}

/**
 * The index after the value that begins there. Nested values are skipped by index; otherwise each level would scan the
 * whole.
 */
function endOf(whole: string, from: number, ends: () => Uint32Array): number {
  const letter = whole.charAt(from);
  if (letter === '"') return stringEnd(whole, from);
  if (letter === '[' || letter === '{') return (ends()[from] ?? 0) + 1;
  let end = from;
  while (end < whole.length && !',]}'.includes(whole.charAt(end))) end++;
  return end;
}

/** The end of each list and object, by the index of its first character. */
function endsOf(text: string): Uint32Array {
  const ends = new Uint32Array(text.length);
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === '"') at = stringEnd(text, at) - 1;
    else if (letter === '{' || letter === '[') open.push(at);
    else if (letter === '}' || letter === ']') ends[open.pop() ?? 0] = at;
  }
  return ends;
}

/**
 * Memoizes for one turn of the event loop, for example for everything that one advance refers to. Keeping the index
 * longer would take many times the memory of the text.
 */
function memoizeForTurn<T extends object>(make: () => T): () => T {
  let cached: WeakRef<T> | null = null;
  return () => {
    const known = cached?.deref();
    if (known) return known;
    const made = make();
    cached = new WeakRef(made);
    return made;
  };
}
