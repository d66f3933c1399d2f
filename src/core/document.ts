import { elements, members } from './json.ts';
import { withinOutput } from './step-output.ts';

/**
 * A JSON text that is looked into again and again: the input of a run, what a step has put out, a list. It never changes,
 * and may be long: what was found in it is kept with it.
 */
export interface Document {
  /** As it is kept: what a model wrote is a string. */
  readonly json: string;
  /** What a path leads to, as compact JSON; `null` where there is no such thing. What a model wrote is read as JSON. */
  at(path: Path): string;
  /** The elements of a list. */
  elements(): readonly string[];
}

/** Names of members and places in lists. */
export type Path = readonly (string | number)[];

export function documentOf(json: string): Document {
  const found = new Map<string, string>();
  let parts: readonly string[] | null = null;

  function once(name: string, find: () => string): string {
    const known = found.get(name) ?? find();
    found.set(name, known);
    return known;
  }

  return {
    json,
    at(path) {
      let name = '';
      let text = once(name, () => withinOutput(json));
      // Member by member, so that what leads to many is gone through once.
      for (const part of path) {
        const whole = text;
        name += typeof part === 'number' ? `[${part}]` : `.${part}`;
        text = once(name, () => follow(whole, [part]));
      }
      return text;
    },
    elements() {
      parts ??= elements(json);
      return parts;
    },
  };
}

/** What a path leads to in compact JSON; `null` where there is no such thing. */
export function follow(json: string, path: Path): string {
  let at = json;
  for (const part of path) {
    const inner =
      typeof part === 'number'
        ? at.startsWith('[') && elements(at)[part]
        : at.startsWith('{') && members(at).findLast((member) => member.name === part)?.text;
    if (!inner) return 'null';
    at = inner;
  }
  return at;
}
