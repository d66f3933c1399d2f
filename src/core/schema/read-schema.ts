import { isObject } from '../is-object.ts';
import { linearPattern } from './linear-pattern.ts';

/**
 * Reads a JSON schema that a user wrote into the form that is compiled. It keeps the known keywords only, so every
 * schema that can be evaluated was seen here, and gets the keyword `stepCost`, with which evaluation is limited.
 *
 * Rejected: references to elsewhere, dynamic references, patterns that are not linear, schemas that are too deep.
 */
export interface ReadSchema {
  readonly schema: Schema;
  readonly dialect: Dialect;
}

export type Schema = boolean | Readonly<Record<string, unknown>>;
/** Draft 7 is compiled with its own rules for lists; everything else as 2020-12. */
export type Dialect = 'draft-07' | '2020-12';

/** What one evaluation of a schema takes of the budget. */
export interface StepCost {
  /** One, and one for each value that belongs to its keywords. */
  readonly steps: number;
  /** Whether it also reads every property of an object. */
  readonly perKey: boolean;
}

/** Nested schemas and lists. */
const depthMax = 64;
/** Compiling takes about a millisecond for each. */
const schemasMax = 500;

/** A schema that cannot be used. `path` is a JSON pointer into it. */
export class SchemaProblem extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.name = 'SchemaProblem';
    this.path = path;
  }
}

/** @throws {SchemaProblem} */
export function readSchema(given: unknown): ReadSchema {
  const dialect = dialectOf(given);
  const reading: Reading = { dialect, targets: new Set(), schemas: 0, references: [] };
  const schema = readAt(given, { path: '', depth: 0 }, reading);
  for (const { path, target } of reading.references) {
    if (reading.targets.has(target)) continue;
    throw new SchemaProblem(path, `refers to ${target}, which is no schema within this one`);
  }
  return { schema, dialect };
}

interface Reading {
  readonly dialect: Dialect;
  /** JSON pointers and anchors of all schemas. */
  readonly targets: Set<string>;
  schemas: number;
  readonly references: { readonly path: string; readonly target: string }[];
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

const single = [
  ...['additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'items', 'not'],
  ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
];
const lists = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'];
const maps = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];
/** Keywords whose values are no schemas. */
const plain = [
  ...['const', 'dependentRequired', 'enum', 'exclusiveMaximum', 'exclusiveMinimum', 'format'],
  ...[
    'maxContains',
    'maxItems',
    'maxLength',
    'maxProperties',
    'maximum',
    'minContains',
    'minItems',
  ],
  ...['minLength', 'minProperties', 'minimum', 'multipleOf', 'nullable', 'pattern', 'required'],
  ...['type', 'uniqueItems'],
];
const loopsOverKeys = [
  ...['additionalProperties', 'maxProperties', 'minProperties', 'patternProperties'],
  ...['propertyNames', 'unevaluatedProperties'],
];
const rejected = ['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'];

function readAt(given: unknown, place: Place, reading: Reading): Schema {
  const { path, depth } = place;
  if (typeof given === 'boolean') {
    reading.targets.add(`#${path}`);
    return given;
  }
  if (!isObject(given)) throw new SchemaProblem(path, 'must be an object or a boolean');
  if (depth > depthMax) throw new SchemaProblem(path, `is nested deeper than ${depthMax} levels`);
  if (++reading.schemas > schemasMax) {
    throw new SchemaProblem('', `holds more than ${schemasMax} schemas`);
  }
  reading.targets.add(`#${path}`);
  const read: Record<string, unknown> = {};
  let cost = 1;
  for (const [keyword, value] of Object.entries(given)) {
    const at = { path: `${path}/${escaped(keyword)}`, depth: depth + 1 };
    const usable = readKeyword(keyword, value, at, reading);
    if (usable === undefined) continue;
    cost += plain.includes(keyword) ? valuesIn(value) : entriesIn(value);
    read[keyword] = usable;
  }
  const perKey = loopsOverKeys.some((keyword) => keyword in read);
  return { ...read, stepCost: { steps: cost, perKey } satisfies StepCost };
}

function readKeyword(keyword: string, value: unknown, at: Place, reading: Reading): unknown {
  if (rejected.includes(keyword)) throw new SchemaProblem(at.path, 'is not supported');
  if (keyword === '$ref') return readReference(value, at, reading);
  if (keyword === '$anchor') {
    if (typeof value === 'string') reading.targets.add(`#${value}`);
    return value;
  }
  if (keyword === 'pattern') return readPattern(value, at);
  if (keyword === 'dependencies') return readDependencies(value, at, reading);
  if (lists.includes(keyword) && Array.isArray(value)) {
    return value.map((one, index) => readAt(one, child(at, String(index)), reading));
  }
  if (single.includes(keyword)) return readAt(value, at, reading);
  if (maps.includes(keyword)) return readMap(keyword, value, at, reading);
  return plain.includes(keyword) ? value : undefined;
}

function readMap(keyword: string, value: unknown, at: Place, reading: Reading): unknown {
  if (!isObject(value)) throw new SchemaProblem(at.path, 'must be an object');
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const below = child(at, name);
      if (keyword === 'patternProperties') readPattern(name, below);
      return [name, readAt(one, below, reading)];
    }),
  );
}

/** A schema, or the names of properties. */
function readDependencies(value: unknown, at: Place, reading: Reading): unknown {
  if (!isObject(value)) throw new SchemaProblem(at.path, 'must be an object');
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      Array.isArray(one) ? one : readAt(one, child(at, name), reading),
    ]),
  );
}

function readReference(value: unknown, { path }: Place, reading: Reading): unknown {
  if (typeof value !== 'string' || !value.startsWith('#')) {
    throw new SchemaProblem(path, 'must refer to a part of the same schema: it must begin with #');
  }
  reading.references.push({ path, target: decoded(value) });
  return value;
}

function readPattern(value: unknown, { path }: Place): unknown {
  if (typeof value !== 'string') throw new SchemaProblem(path, 'must be a string');
  try {
    linearPattern(value);
  } catch (error) {
    throw new SchemaProblem(path, (error as Error).message);
  }
  return value;
}

/** A pointer may be percent-encoded. */
function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

const dialects = /^https?:\/\/json-schema\.org\/draft(?:-0([67])|\/(2019-09|2020-12))\/schema#?$/;

function dialectOf(given: unknown): Dialect {
  const named = isObject(given) ? given.$schema : undefined;
  if (named === undefined) return '2020-12';
  const [known, old] = typeof named === 'string' ? (dialects.exec(named) ?? []) : [];
  if (known === undefined) {
    const message = 'must be draft 2020-12, 2019-09 or draft-07 of JSON Schema, or left out';
    throw new SchemaProblem('/$schema', message);
  }
  return old === undefined ? '2020-12' : 'draft-07';
}

function child({ path, depth }: Place, name: string): Place {
  return { path: `${path}/${escaped(name)}`, depth: depth + 1 };
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The number of values in a value, itself included. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + valuesIn(one), 1);
}

function entriesIn(value: unknown): number {
  return isObject(value) || Array.isArray(value) ? 1 + Object.keys(value).length : 1;
}
