import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';

/** A JSON object. */
export type Json = { [name: string]: unknown };

/**
 * Collects the schemas with a `title` as components under that title. Schemas without a title stay
 * inline.
 */
export class Components {
  readonly #kept = new Map<string, Json>();

  /** Returns the schema for use in the document: inline, or a reference to its component. */
  use(schema: TSchema): Json {
    const { title, ...rest } = schema as Json & { title?: string };
    const entries = Object.entries(rest).map(([keyword, value]) => [
      keyword,
      this.#value(keyword, value),
    ]);
    const plain: Json = Object.fromEntries(entries);
    return title === undefined ? plain : this.#keep(title, plain);
  }

  /** All components by name. */
  all(): Record<string, Json> {
    return Object.fromEntries([...this.#kept].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /**
   * Recurses where a keyword contains schemas. Leaves examples, enums and other values unchanged.
   */
  #value(keyword: string, value: unknown): unknown {
    if (holdsMap.has(keyword)) {
      const entries = Object.entries(value as Json);
      return Object.fromEntries(entries.map(([name, one]) => [name, this.use(one as TSchema)]));
    }
    if (holdsList.has(keyword)) return (value as TSchema[]).map((one) => this.use(one));
    if (holdsOne.has(keyword) && typeof value === 'object') return this.use(value as TSchema);
    return value;
  }

  /** Rejects two different schemas with the same title. */
  #keep(title: string, schema: Json): Json {
    const before = this.#kept.get(title);
    if (before && !isDeepStrictEqual(before, schema))
      throw new Error(`two schemas are named ${title}`);
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
