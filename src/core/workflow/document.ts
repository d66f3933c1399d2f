import { variableText } from '../agent/variables.ts';
import { elements, stringEnd } from '../json.ts';
import { withinOutput } from './step-output.ts';

/**
 * A JSON text that is looked into again and again: the input of a run, what a step has put out, a list, an item of one. It
 * never changes, and may be long: the whole is gone through once, however many look into it and however deep.
 */
export interface Document {
  /** As it is kept: what a model wrote is a string. */
  readonly json: string;
  /** The same as compact JSON: what a model wrote is read as JSON where it is that. */
  inside(): string;
  /** What a path within that leads to; `null` where there is no such thing. No path stands for what is kept. */
  at(path: Path): string;
  /** How many characters `textWithin` makes of what is there: told without making it again. */
  charsWithin(path: Path): number;
  /** The elements of a list. */
  elements(): readonly string[];
}

/** Names of members and places in lists. */
export type Path = readonly (string | number)[];

export function documentOf(json: string): Document {
  return lookedInto(json, withinOutput);
}

/** The same of an element of a list: one that is a text stays a text, whatever it holds. */
export function documentOfItem(json: string): Document {
  return lookedInto(json, (whole) => whole);
}

/** What a value puts into other text, as it stands between the quotes of a JSON string: of `null` nothing. */
export function textWithin(json: string): string {
  return json === 'null' ? '' : JSON.stringify(variableText(json)).slice(1, -1);
}

function lookedInto(json: string, look: (json: string) => string): Document {
  let whole: { readonly text: string; readonly root: Spot } | null = null;
  let charsOfWhole: number | null = null;
  let parts: readonly string[] | null = null;

  function inner() {
    if (!whole) {
      const text = look(json);
      const ends = heldForNow(() => endsOf(text));
      whole = { text, root: spotIn(text, 0, ends) };
    }
    return whole;
  }

  function find(path: Path): Spot | null {
    let spot: Spot | null = inner().root;
    for (const part of path) spot = spot?.part(part) ?? null;
    return spot;
  }

  return {
    json,
    inside: () => inner().text,
    at(path) {
      if (path.length === 0) return json;
      return find(path)?.text() ?? 'null';
    },
    charsWithin(path) {
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

/** One value within a text. Those that somebody has looked for are kept, which is only where they begin. */
interface Spot {
  text(): string;
  charsWithin(): number;
  part(name: string | number): Spot | null;
}

/** Where the parts of a list or of an object begin. */
type Parts = readonly number[] | ReadonlyMap<string, number>;

function spotIn(whole: string, from: number, ends: () => Uint32Array): Spot {
  const known = new Map<string | number, Spot | null>();
  const parts = heldForNow(() => partsAt(whole, from, ends()));
  const letter = whole.charAt(from);
  let chars: number | null = null;

  function look(name: string | number): Spot | null {
    if (letter !== (typeof name === 'number' ? '[' : '{')) return null;
    const of = parts();
    const at = of instanceof Map ? of.get(name) : (of as readonly number[])[Number(name)];
    return at === undefined ? null : spotIn(whole, at, ends);
  }

  const text = () => whole.slice(from, endOf(whole, from, ends));
  return {
    text,
    charsWithin() {
      chars ??= textWithin(text()).length;
      return chars;
    },
    part(name) {
      let spot = known.get(name);
      if (spot === undefined) {
        spot = look(name);
        known.set(name, spot);
      }
      return spot;
    },
  };
}

/** Of a name sent twice the last counts. */
function partsAt(whole: string, from: number, ends: Uint32Array): Parts {
  const last = ends[from] ?? 0;
  const places: number[] = [];
  const members = new Map<string, number>();
  const isList = whole.charAt(from) === '[';
  for (let at = from + 1; at < last; ) {
    let value = at;
    if (isList) places.push(at);
    else {
      value = stringEnd(whole, at) + 1;
      members.set(JSON.parse(whole.slice(at, value - 1)) as string, value);
    }
    at = endOf(whole, value, () => ends) + 1;
  }
  return isList ? places : members;
}

/** The index after the value that begins there. Nested ones are not gone through: else each level would cost the whole. */
function endOf(whole: string, from: number, ends: () => Uint32Array): number {
  const letter = whole.charAt(from);
  if (letter === '"') return stringEnd(whole, from);
  if (letter === '[' || letter === '{') return (ends()[from] ?? 0) + 1;
  let end = from;
  while (end < whole.length && !',]}'.includes(whole.charAt(end))) end++;
  return end;
}

/** Where each list and each object ends, at the place of its first character. */
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
 * Made once for all that is asked in one turn of the event loop, such as all that one advance of a run refers to: for so
 * long a weak reference holds what it was made with. To keep it for longer would take many times the room of the text.
 */
function heldForNow<T extends object>(make: () => T): () => T {
  let held: WeakRef<T> | null = null;
  return () => {
    const known = held?.deref();
    if (known) return known;
    const made = make();
    held = new WeakRef(made);
    return made;
  };
}
