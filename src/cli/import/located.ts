import { isObject } from '../../core/is-object.ts';
import { readYaml as readValue, type YamlPath } from '../client/yaml.ts';

/** A value that is imported, and where it is written. */
export class Located {
  readonly value: unknown;
  readonly #origin: Origin;
  readonly #path: YamlPath;

  constructor(value: unknown, origin: Origin, path: YamlPath = []) {
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

/** Names the place of a value. */
export type Origin = (path: YamlPath, part?: string) => string;

/** Reads YAML or JSON, which YAML contains. */
export function readYaml(text: string, file: string): Located {
  const refusal = (line: number) => `${file}:${line}: Not valid YAML or JSON`;
  const { value, lineOf } = readValue(text, file, { merge: true, refusal });
  return new Located(value ?? undefined, (path, part) => `${file}:${lineOf(path, part)}`);
}

/** A text file, whose lines are counted from `firstLine`. */
export function textFile(text: string, file: string, firstLine = 1): Located {
  return new Located(text, (_, part = '') => {
    const before = text.slice(0, Math.max(0, text.indexOf(part)));
    return `${file}:${firstLine + before.split('\n').length - 1}`;
  });
}
