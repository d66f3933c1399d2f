import type { TSchema } from 'typebox';

/**
 * Shortens an invalid body to a copy that is invalid for the same reasons. The validator detects an invalid body at once,
 * but to explain it, it visits every unknown field and every item of an overlong list. Its search for duplicate items is
 * quadratic and takes minutes for 600 kB.
 */
export function shorten(schema: TSchema, value: unknown): unknown {
  const { items = {}, maxItems = itemsMax, properties = {} } = fieldsOf(schema);
  if (Array.isArray(value)) {
    return value.slice(0, maxItems + 1).map((one) => shorten(items, one));
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const isKnown = (name: string) => Object.hasOwn(properties, name);
  const names = Object.keys(fields);
  // The validator reports only the names and the number of unknown fields.
  const unknown = names.filter((name) => !isKnown(name));
  const shown = [...names.filter(isKnown), ...unknown.slice(0, unknownFieldsMax(schema))];
  const schemaOf = (name: string) => (isKnown(name) && properties[name]) || {};
  return Object.fromEntries(shown.map((name) => [name, shorten(schemaOf(name), fields[name])]));
}

/** For a list without a limit of its own: above every limit in the contract, and above the number of enum values. */
const itemsMax = 1_000;

/** As many errors as the validator reports. */
const validationErrorsMax = 8;

/** Any field whose name matches a pattern may be the invalid one, so those are all included. */
function unknownFieldsMax(schema: TSchema): number {
  const { patternProperties, maxProperties = 0 } = fieldsOf(schema);
  return patternProperties ? Infinity : Math.max(maxProperties + 1, validationErrorsMax);
}

/** What any of the alternatives of a schema says. */
function fieldsOf(schema: TSchema): SchemaFields {
  const { anyOf = [], properties, ...own } = schema as SchemaFields;
  const alternatives = anyOf.map(fieldsOf);
  return {
    ...Object.assign({}, ...alternatives),
    ...own,
    properties: Object.assign({}, ...alternatives.map((one) => one.properties), properties),
  };
}

interface SchemaFields {
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: object;
  readonly maxProperties?: number;
}
