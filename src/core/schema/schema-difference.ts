import { isObject } from '../is-object.ts';

/**
 * Whether two schemas accept the same values for the same reason: equal but for annotations (titles, descriptions, examples, defaults,
 * `$schema`, `$id` and whatever no validator reads) and for the order of names, of what is required, of types, values and alternatives.
 */

/** Where one schema differs from another, as a JSON pointer into the other one, and what each has there. */
export interface SchemaDifference {
  readonly path: string;
  /** As compact JSON; null if it has nothing there. */
  readonly own: string | null;
  readonly other: string | null;
}

/** Null if they are the same. */
export function schemaDifference(own: unknown, other: unknown): SchemaDifference | null {
  return difference(assertionsOf(own), assertionsOf(other), '');
}

/** How the value of a keyword is read. */
type Reading = 'schema' | 'alternatives' | 'named' | 'set' | 'types' | 'data';

const readings: Readonly<Record<string, Reading>> = {
  ...all('schema', 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'contains'),
  ...all('schema', 'items', 'additionalItems', 'unevaluatedItems', 'prefixItems'),
  ...all('schema', 'not', 'if', 'then', 'else'),
  ...all('alternatives', 'allOf', 'anyOf', 'oneOf'),
  ...all('named', 'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'),
  ...all('named', 'dependencies', 'dependentRequired'),
  ...all('set', 'required', 'enum'),
  ...all('types', 'type'),
  ...all('data', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum'),
  ...all('data', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems'),
  ...all('data', 'uniqueItems', 'minContains', 'maxContains', 'minProperties', 'maxProperties'),
  ...all('data', '$ref', '$dynamicRef', '$anchor', '$dynamicAnchor'),
};

function all(reading: Reading, ...names: string[]): Record<string, Reading> {
  return Object.fromEntries(names.map((name) => [name, reading]));
}

/** The schema without annotations, with everything whose order does not matter in one order. Takes time in proportion to its length and levels. */
function assertionsOf(schema: unknown): unknown {
  return withEach(schema, (value, name) => {
    const reading = Object.hasOwn(readings, name) ? readings[name] : undefined;
    const assertion = reading && assertionIn(reading, value);
    return isDefault(name, assertion) ? undefined : assertion;
  });
}

function assertionIn(reading: Reading, value: unknown): unknown {
  const isList = Array.isArray(value);
  switch (reading) {
    case 'schema':
      return isList ? value.map(assertionsOf) : assertionsOf(value);
    case 'alternatives':
      return isList ? inOneOrder(value.map(assertionsOf)) : value;
    case 'named':
      return withEach(value, (one) => (Array.isArray(one) ? inOneOrder(one) : assertionsOf(one)));
    case 'set':
      return inOneOrder(isList ? value.map(ordered) : [value]);
    case 'types':
      return isList && value.length > 1 ? inOneOrder(value) : [value].flat()[0];
    case 'data':
      return ordered(value);
  }
}

/** What a keyword says that could be left out. */
function isDefault(name: string, value: unknown): boolean {
  if (name === 'required') return Array.isArray(value) && value.length === 0;
  const isAnything = value === true || (isObject(value) && Object.keys(value).length === 0);
  return isAnything && ['additionalProperties', 'items', 'properties'].includes(name);
}

/** The object with its names in one order, without those for which nothing is returned; any other value as it is. */
function withEach(value: unknown, read: (one: unknown, name: string) => unknown): unknown {
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  const members = names.map((name) => [name, read(value[name], name)] as const);
  return Object.fromEntries(members.filter(([, one]) => one !== undefined));
}

function ordered(value: unknown): unknown {
  return Array.isArray(value) ? value.map(ordered) : withEach(value, ordered);
}

/** Each value once. */
function inOneOrder(values: readonly unknown[]): unknown[] {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...byText.keys()].sort().map((text) => byText.get(text));
}

function difference(own: unknown, other: unknown, path: string): SchemaDifference | null {
  if (own === other) return null;
  if (Array.isArray(own) && Array.isArray(other) && own.length === other.length) {
    return firstOf(own.keys(), (at) => difference(own[at], other[at], `${path}/${at}`));
  }
  if (!isObject(own) || !isObject(other)) {
    return { path, own: JSON.stringify(own) ?? null, other: JSON.stringify(other) ?? null };
  }
  const names = new Set([...Object.keys(own), ...Object.keys(other)]);
  return firstOf(names, (name) => {
    const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
    return difference(memberOf(own, name), memberOf(other, name), `${path}/${step}`);
  });
}

function memberOf(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function firstOf<T>(
  values: Iterable<T>,
  find: (value: T) => SchemaDifference | null,
): SchemaDifference | null {
  for (const value of values) {
    const found = find(value);
    if (found) return found;
  }
  return null;
}
