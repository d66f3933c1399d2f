import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import { isObject } from '../../core/is-object.ts';
import { CommandFailure } from '../client/command-failure.ts';
import { oneLine } from '../client/print.ts';
import { requireExactNumbers } from '../client/yaml.ts';

/** A value that is imported, and where it is written. */
export class Located {
  readonly value: unknown;
  readonly #origin: Origin;
  readonly #path: Path;

  constructor(value: unknown, origin: Origin, path: Path = []) {
    this.value = value;
    this.#origin = origin;
    this.#path = path;
  }

  /** The member of an object; its value is `undefined` if there is none, or `null`. */
  get(name: string): Located {
    const { value } = this;
    const member = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return this.#child(member ?? undefined, name);
  }

  /** The member or item at a step of a path. */
  step(name: string): Located {
    return Array.isArray(this.value)
      ? this.#child(this.value[Number(name)], Number(name))
      : this.get(name);
  }

  /** The items of a list, or the value itself as the only one. */
  items(): Located[] {
    if (Array.isArray(this.value)) return this.value.map((item, index) => this.#child(item, index));
    return this.value === undefined ? [] : [this];
  }

  /** The members of an object. */
  members(): [string, Located][] {
    if (!isObject(this.value)) return [];
    return Object.keys(this.value).map((name) => [name, this.get(name)]);
  }

  /** A non-empty text. */
  text(): string | undefined {
    return typeof this.value === 'string' && this.value !== '' ? this.value : undefined;
  }

  /** The same place with another value. */
  with(value: unknown): Located {
    return new Located(value, this.#origin, this.#path);
  }

  /** `FILE:LINE`, of a part of the text if one is given. */
  place(part?: string): string {
    return this.#origin(this.#path, part);
  }

  #child(value: unknown, step: string | number): Located {
    return new Located(value, this.#origin, [...this.#path, step]);
  }
}

export type Path = readonly (string | number)[];
/** Names the place of a value. */
export type Origin = (path: Path, part?: string) => string;

/** Reads YAML or JSON, which YAML contains. */
export function readYaml(text: string, file: string): Located {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, merge: true });
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong) {
    throw new CommandFailure(
      `${file}:${lines.linePos(wrong.pos[0]).line}: Not valid YAML or JSON: ${oneLine(wrong.message)}`,
      { cause: wrong },
    );
  }
  requireExactNumbers(document, file);
  try {
    const value: unknown = document.toJS();
    // Fails for a circular alias.
    JSON.stringify(value);
    return new Located(value ?? undefined, (path, part) => `${file}:${lineOf(path, part)}`);
  } catch (error) {
    const message = `${file} is not valid YAML: ${oneLine((error as Error).message)}`;
    throw new CommandFailure(message, { cause: error });
  }

  function lineOf(path: Path, part?: string): number {
    const [start, end] = rangeOf(document, path);
    const at = part === undefined ? -1 : text.slice(start, end).indexOf(part);
    return lines.linePos(at < 0 ? start : start + at).line;
  }
}

/** A text file, whose lines are counted from `firstLine`. */
export function textFile(text: string, file: string, firstLine = 1): Located {
  return new Located(text, (_, part = '') => {
    const before = text.slice(0, Math.max(0, text.indexOf(part)));
    return `${file}:${firstLine + before.split('\n').length - 1}`;
  });
}

/** Where the node at a path begins and ends: of its name in an object. As near as the path leads, through aliases and merged objects. */
function rangeOf(document: Document.Parsed, path: Path): readonly [number, number] {
  let node: unknown = document.contents;
  let range: readonly [number, number] = [0, 0];
  const enter = (next: unknown, named: unknown = next) => {
    const [start = range[0]] = (named as Node | null)?.range ?? [];
    const end = (next as Node | null)?.range?.[1] ?? start;
    range = [start, end];
    node = isAlias(next) ? next.resolve(document) : next;
  };
  enter(node);
  for (const step of path) {
    if (isSeq(node)) enter(node.items[Number(step)]);
    else if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (!pair) break;
      enter(pair.value, pair.key);
    } else break;
  }
  return range;
}
