import { type Document, follow, type Path } from './document.ts';
import { variableText } from './variables.ts';

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
  readonly item: string | null;
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
  if (typeof value === 'string') return [...value.matchAll(pattern)].map(referenceOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(findReferences);
}

/** The names of the steps that a value refers to, each once. */
export function stepsReferredTo(value: unknown): string[] {
  return [...new Set(findReferences(value).flatMap(({ step }) => step ?? []))];
}

/**
 * The value with its references filled in, as compact JSON. A text that is one reference takes the value with its type;
 * within other text it becomes what a variable of that value puts into a prompt. What does not exist is null, and
 * nothing within text. Null where the result would have more than `charsMax` characters: a short text can refer to a
 * long value many times.
 */
export function fill(value: unknown, scope: Scope, charsMax: number): string | null {
  const pieces: string[] = [];
  let left = charsMax;

  function put(piece: string): boolean {
    left -= piece.length;
    pieces.push(piece);
    return left >= 0;
  }

  function write(part: unknown): boolean {
    if (typeof part === 'string') return writeText(part);
    if (Array.isArray(part)) {
      if (!put('[')) return false;
      for (const [place, one] of part.entries()) {
        if ((place > 0 && !put(',')) || !write(one)) return false;
      }
      return put(']');
    }
    if (typeof part === 'object' && part !== null) {
      if (!put('{')) return false;
      for (const [place, [of, one]] of Object.entries(part).entries()) {
        if (!put(`${place > 0 ? ',' : ''}${JSON.stringify(of)}:`) || !write(one)) return false;
      }
      return put('}');
    }
    return put(JSON.stringify(part ?? null));
  }

  function writeText(text: string): boolean {
    const whole = wholePattern.exec(text);
    if (whole) return put(resolve(referenceOf(whole), scope));
    let chars = text.length;
    for (const match of text.matchAll(pattern)) {
      chars += textOf(resolve(referenceOf(match), scope)).length;
      if (chars > left) return false;
    }
    return put(
      JSON.stringify(text.replace(pattern, (...all) => textOf(resolve(referenceOf(all), scope)))),
    );
  }

  return write(value) ? pieces.join('') : null;
}

/** What a reference stands for, as compact JSON; `null` where there is no such thing. */
export function resolve({ root, step, path }: Reference, scope: Scope): string {
  if (root === 'index') return scope.index === null ? 'null' : String(scope.index);
  if (root === 'item') return follow(scope.item ?? 'null', path);
  const document = root === 'input' ? scope.input : scope.output(step ?? '');
  if (!document) return 'null';
  return path.length === 0 ? document.json : document.at(path);
}

function textOf(json: string): string {
  return json === 'null' ? '' : variableText(json);
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
