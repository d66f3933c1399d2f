import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';

/** Any object of a JSON document. */
export type Json = { [name: string]: unknown };

/**
 * Gathers the schemas that the document says once and refers to elsewhere: those with a `title`, under that title.
 * All others stand where they are used.
 */
export class Components {
  readonly #kept = new Map<string, Json>();

  /** The schema as the document holds it at this place: itself, or a reference to where it is kept. */
  use(schema: TSchema): Json {
    const { title, ...rest } = schema as Json & { title?: string };
    const entries = Object.entries(rest).map(([keyword, value]) => [
      keyword,
      this.#value(keyword, value),
    ]);
    const plain: Json = Object.fromEntries(entries);
    return title === undefined ? plain : this.#keep(title, plain);
  }

  /** Everything kept, by name. */
  all(): Record<string, Json> {
    return Object.fromEntries([...this.#kept].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Goes on where a keyword holds schemas; examples, enums and the like are left as they are. */
  #value(keyword: string, value: unknown): unknown {
    if (holdsMap.has(keyword)) {
      const entries = Object.entries(value as Json);
      return Object.fromEntries(entries.map(([name, one]) => [name, this.use(one as TSchema)]));
    }
    if (holdsList.has(keyword)) return (value as TSchema[]).map((one) => this.use(one));
    if (holdsOne.has(keyword) && typeof value === 'object') return this.use(value as TSchema);
    return value;
  }

  /** Two different schemas under one title would make the document lie about one of them. */
  #keep(title: string, schema: Json): Json {
    const before = this.#kept.get(title);
    if (before && !isDeepStrictEqual(before, schema)) throw new Error(`two schemas named ${title}`);
    this.#kept.set(title, schema);
    return { $ref: `#/components/schemas/${title}` };
  }
}

const holdsMap = new Set(['properties', 'patternProperties']);
const holdsList = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']);
const holdsOne = new Set([
  'items',
  'additionalProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]);
