import { stringEnd } from '../json.ts';
import { type Document, type Path, textWithin } from './document.ts';

/**
 * References in the values of a workflow: `{{input.a.b[0]}}`, `{{steps.NAME.output.path[0]}}`, `{{item.id}}` and
 * `{{index}}`, inner blanks allowed, one pass, nothing else is syntax. Values travel as JSON text, so that the order of
 * names and the texts of numbers stay as they were sent.
 */

export interface Reference {
  readonly root: 'input' | 'steps' | 'item' | 'index';
  /** The step, where `root` is `steps`. */
  readonly step: string | null;
  /** Names of members and places in lists, within the input, the step's output or the item. */
  readonly path: Path;
}

/** What references stand for; everything is compact JSON. */
export interface Scope {
  readonly input: Document;
  /** Null where there is none. */
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

/** Every reference in the texts of any JSON value, in the order of the text; the names of members hold none. */
export function findReferences(value: unknown): Reference[] {
  return piecesOf(value).flatMap((piece) => (typeof piece === 'string' ? [] : piece.reference));
}

/** The names of the steps that a value refers to, each once. */
export function stepsReferredTo(value: unknown): string[] {
  return [...new Set(findReferences(value).flatMap(({ step }) => step ?? []))];
}

/**
 * The value with its references filled in, as compact JSON. A text that is one reference takes the value with its type;
 * within other text it becomes what a variable of that value puts into a prompt. What does not exist is null, and
 * nothing within text. Null where the result would have more than `charsMax` characters: a short text can refer to a
 * long value many times. That is found out before anything of it is made.
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

/** JSON as it stands in the definition, or what takes its value where a run is: alone, or within other text. */
type Piece = string | { readonly reference: Reference; readonly within: boolean };

/** A definition is long and never changes, and a list fills the same value for each of its items. */
const kept = new WeakMap<object, readonly Piece[]>();

function piecesOf(value: unknown): readonly Piece[] {
  if (typeof value !== 'object' || value === null) return takeApart(value);
  const known = kept.get(value);
  if (known) return known;
  const pieces = takeApart(value);
  kept.set(value, pieces);
  return pieces;
}

/** The value as JSON, cut where its references stand. Only texts with braces are looked at: a value can have many parts. */
function takeApart(value: unknown): Piece[] {
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

/** What a reference stands for, as compact JSON; `null` where there is no such thing. */
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
