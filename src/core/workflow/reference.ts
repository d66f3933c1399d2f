import { stringEnd } from '../json.ts';
import { type Document, type Path, textWithin } from './document.ts';

/**
 * References in the values of a workflow: `{{input.a.b[0]}}`, `{{steps.NAME.output.path[0]}}`, `{{item.id}}` and
 * `{{index}}`, with optional inner blanks, in one pass; nothing else is syntax. Values are JSON text, so that the order
 * of names and the text of numbers stay as sent.
 */

export interface Reference {
  readonly root: 'input' | 'steps' | 'item' | 'index';
  /** The step, if `root` is `steps`. */
  readonly step: string | null;
  /** Member names and list indexes within the input, the step's output or the item. */
  readonly path: Path;
}

/** The values that references resolve to, all compact JSON. */
export interface Scope {
  readonly input: Document;
  /** Null if there is none. */
  readonly output: (step: string) => Document | null;
  /** Null outside of a list. */
  readonly item: Document | null;
  readonly index: number | null;
}

const name = '[A-Za-z_][A-Za-z0-9_]*';
const pattern = new RegExp(
  `\\{\\{[ \\t]*(?:(index)|(input|item|steps\\.(${name})\\.output)((?:\\.${name}|\\[[0-9]{1,9}\\])*))[ \\t]*\\}\\}`,
  'g',
);
const wholePattern = new RegExp(`^${pattern.source}$`);
const partPattern = new RegExp(`${name}|[0-9]+`, 'g');

/** Every reference in the texts of a JSON value, in order; member names contain none. */
export function findReferences(value: unknown): Reference[] {
  return piecesOf(value).flatMap((piece) => (typeof piece === 'string' ? [] : piece.reference));
}

/** The reference that a value is as a whole; null if it is anything else. */
export function wholeReference(value: unknown): Reference | null {
  const [piece, ...others] = piecesOf(value);
  return typeof piece !== 'object' || piece.within || others.length > 0 ? null : piece.reference;
}

/** The names of the steps that a value refers to, each once. */
export function stepsReferredTo(value: unknown): string[] {
  return [...new Set(findReferences(value).flatMap(({ step }) => step ?? []))];
}

/**
 * The value with its references resolved, as compact JSON. A text that is exactly one reference becomes the value with
 * its type; inside other text it becomes the value's prompt text. A missing value becomes null, and nothing inside
 * text. Null if the result would exceed `charsMax` characters: a short text can repeat a long value. The length is
 * computed before anything is built.
 */
export function fill(value: unknown, scope: Scope, charsMax: number): string | null {
  const pieces = piecesOf(value);
  let chars = 0;
  for (const piece of pieces) {
    chars += charsOf(piece, scope);
    if (chars > charsMax) return null;
  }
  return pieces.map((piece) => textOf(piece, scope)).join('');
}

/** Literal JSON of the definition, or a reference: alone, or within other text. */
type Piece = string | { readonly reference: Reference; readonly within: boolean };

/** A definition is immutable and a list fills the same value for each item, so the split is cached. */
const cache = new WeakMap<object, readonly Piece[]>();

function piecesOf(value: unknown): readonly Piece[] {
  if (typeof value !== 'object' || value === null) return splitAtReferences(value);
  const known = cache.get(value);
  if (known) return known;
  const pieces = splitAtReferences(value);
  cache.set(value, pieces);
  return pieces;
}

/** Splits the value's JSON at its references. Only texts with braces are scanned: a value can have many parts. */
function splitAtReferences(value: unknown): Piece[] {
  const whole = JSON.stringify(value ?? null);
  if (!whole.includes('{{')) return [whole];
  const pieces: Piece[] = [];
  let json = '';

  function refer(match: readonly (string | undefined)[], within: boolean): void {
    if (json !== '') pieces.push(json);
    json = '';
    pieces.push({ reference: referenceOf(match), within });
  }

  function writeText(text: string): void {
    const match = wholePattern.exec(text);
    if (match) {
      refer(match, false);
      return;
    }
    let from = 0;
    json += '"';
    for (const one of text.matchAll(pattern)) {
      json += JSON.stringify(text.slice(from, one.index)).slice(1, -1);
      refer(one, true);
      from = one.index + one[0].length;
    }
    json += `${JSON.stringify(text.slice(from)).slice(1, -1)}"`;
  }

  let written = 0;
  for (let at = whole.indexOf('"'), end = 0; at >= 0; at = whole.indexOf('"', end)) {
    end = stringEnd(whole, at);
    const text = whole.slice(at, end);
    const isName = whole.charAt(end) === ':';
    if (isName || !text.includes('{{')) continue;
    json += whole.slice(written, at);
    writeText(JSON.parse(text) as string);
    written = end;
  }
  json += whole.slice(written);
  if (json !== '') pieces.push(json);
  return pieces;
}

function charsOf(piece: Piece, scope: Scope): number {
  if (typeof piece === 'string') return piece.length;
  const { reference, within } = piece;
  if (!within || reference.root === 'index') return textOf(piece, scope).length;
  return documentFor(reference, scope)?.charsWithin(reference.path) ?? 0;
}

function textOf(piece: Piece, scope: Scope): string {
  if (typeof piece === 'string') return piece;
  const json = resolve(piece.reference, scope);
  return piece.within ? textWithin(json) : json;
}

/** The value of a reference as compact JSON; `null` if there is none. */
function resolve(reference: Reference, scope: Scope): string {
  if (reference.root === 'index') return JSON.stringify(scope.index);
  return documentFor(reference, scope)?.at(reference.path) ?? 'null';
}

function documentFor({ root, step }: Reference, scope: Scope): Document | null {
  if (root === 'input') return scope.input;
  return root === 'item' ? scope.item : scope.output(step ?? '');
}

function referenceOf(match: readonly (string | undefined)[]): Reference {
  const [, index, root = '', step, path = ''] = match;
  if (index) return { root: 'index', step: null, path: [] };
  const parts = (path.match(partPattern) ?? []).map((part) =>
    /^[0-9]/.test(part) ? Number(part) : part,
  );
  if (step !== undefined) return { root: 'steps', step, path: parts };
  return { root: root === 'item' ? 'item' : 'input', step: null, path: parts };
}
