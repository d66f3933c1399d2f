import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';
import { wordSet } from '../../core/words.ts';

/** A JSON object. */
export type Json = { [name: string]: unknown };

/**
 * Collects the schemas with a `title` as components under that title. Schemas without a title stay
 * inline.
 */
export class Components {
  readonly #components = new Map<string, Json>();

  /** Returns the schema for use in the document: inline, or a reference to its component. */
  use(schema: TSchema): Json {
    const { title, ...rest } = schema as Json & { title?: string };
    const entries = Object.entries(rest).map(([keyword, value]) => [
      keyword,
      this.#value(keyword, value),
    ]);
    const plain: Json = Object.fromEntries(entries);
    return title === undefined ? plain : this.#add(title, plain);
  }

  /** All components by name. */
  all(): Record<string, Json> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /**
   * Recurses where a keyword contains schemas. Leaves examples, enums and other values unchanged.
   */
  #value(keyword: string, value: unknown): unknown {
    if (schemaMaps.has(keyword)) {
      const entries = Object.entries(value as Json);
      return Object.fromEntries(entries.map(([name, one]) => [name, this.use(one as TSchema)]));
    }
    if (schemaLists.has(keyword)) return (value as TSchema[]).map((one) => this.use(one));
    if (singleSchemas.has(keyword) && typeof value === 'object') return this.use(value as TSchema);
    return value;
  }

  /** Rejects two different schemas with the same title. */
  #add(title: string, schema: Json): Json {
    const before = this.#components.get(title);
    if (before && !isDeepStrictEqual(before, schema))
      throw new Error(`two schemas are named ${title}`);
    this.#components.set(title, schema);
    return { $ref: `#/components/schemas/${title}` };
  }
}

const schemaMaps = new Set(['properties', 'patternProperties']);
const schemaLists = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']);
const singleSchemas = wordSet('items additionalProperties propertyNames not if then else');
