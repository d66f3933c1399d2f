import type { TSchema } from 'typebox';

/**
 * A copy of a wrong body that is wrong in the same way, with no more of it than that needs. The validator sees at once that
 * a body is wrong, but to say why it goes on through every field that is not known, and through every item of a list that is
 * too long, where looking for those that repeat costs the square of their number: minutes for 600 kB.
 */
export function shorten(schema: TSchema, value: unknown): unknown {
  const { items = {}, maxItems = itemsMax, properties = {} } = schema as Parts;
  if (Array.isArray(value)) {
    return value.slice(0, maxItems + 1).map((one) => shorten(items, one));
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const isKnown = (name: string) => Object.hasOwn(properties, name);
  const names = Object.keys(fields);
  // Of fields without a schema of their own only the names count, and how many they are.
  const others = names.filter((name) => !isKnown(name));
  const kept = [...names.filter(isKnown), ...others.slice(0, othersMax(schema))];
  const schemaOf = (name: string) => (isKnown(name) && properties[name]) || {};
  return Object.fromEntries(kept.map((name) => [name, shorten(schemaOf(name), fields[name])]));
}

/** Of a list without a bound of its own: the most of any, more than there are values for the items of one without. */
const itemsMax = 1_000;

/** As many as the validator tells of. */
const complaintsMax = 8;

/** Of those whose names a pattern knows, as in a query, each may be the wrong one. */
function othersMax(schema: TSchema): number {
  const { patternProperties, maxProperties = 0 } = schema as Parts;
  return patternProperties ? Infinity : Math.max(maxProperties + 1, complaintsMax);
}

interface Parts {
  readonly items?: TSchema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: object;
  readonly maxProperties?: number;
}
