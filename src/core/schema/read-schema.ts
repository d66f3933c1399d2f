import { isObject } from '../is-object.ts';
import { words } from '../words.ts';
import { isKnownFormat } from './formats.ts';
import { type LinearPattern, linearPattern } from './linear-pattern.ts';

/**
 * Reads a JSON schema that a user wrote into the form that is compiled. It keeps the known keywords only, so every
 * schema that can be evaluated was seen here, and gets the keyword `stepCost`, with which evaluation is limited.
 *
 * Rejected: references to elsewhere, dynamic references, and what would take long to compile: schemas that are too deep, or too
 * many schemas, names, patterns or instructions of patterns.
 *
 * Patterns that are not linear are dropped: beside a format that is checked without a word, because Zod writes one beside each of
 * its formats, else they are listed.
 */
export interface ReadSchema {
  readonly schema: Schema;
  readonly dialect: Dialect;
  /** Each pattern is compiled once, however often it occurs. */
  readonly patterns: ReadonlyMap<string, LinearPattern>;
  /** Patterns that nothing checks, and why. */
  readonly dropped: readonly SchemaProblem[];
  /** Grows with the time that compiling takes, in characters: a schema takes as long as 100 of them. */
  readonly compileCost: number;
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
/** With `true` and `false`. Compiling takes up to a third of a millisecond for each. */
const schemasMax = 500;
/** Of properties and required properties. A list of `dependentRequired` takes time quadratic in its length. */
const namesMax = 1_000;
/** Distinct ones. */
const patternsMax = 100;
/** Of all patterns together. */
const instructionsMax = 10_000;

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
  const reading: Reading = {
    ...{ dialect, targets: new Set(), references: [], patterns: new Map() },
    ...{ unreadable: new Map(), dropped: [] },
    ...{ schemas: 0, names: 0, instructions: 0 },
  };
  const schema = readAt(given, { path: '', depth: 0 }, reading);
  for (const { path, target } of reading.references) {
    if (reading.targets.has(target)) continue;
    throw new SchemaProblem(path, `refers to ${target}, which is no schema within this one`);
  }
  const { patterns, dropped, schemas, names, instructions } = reading;
  const compileCost = 100 * schemas + 10 * names + 5 * instructions;
  return { schema, dialect, patterns, dropped, compileCost };
}

interface Reading {
  readonly dialect: Dialect;
  /** JSON pointers and anchors of all schemas. */
  readonly targets: Set<string>;
  readonly patterns: Map<string, LinearPattern>;
  /** Why each of the other patterns cannot be matched. */
  readonly unreadable: Map<string, string>;
  readonly dropped: SchemaProblem[];
  schemas: number;
  names: number;
  instructions: number;
  readonly references: { readonly path: string; readonly target: string }[];
}

interface Place {
  readonly path: string;
  readonly depth: number;
  /** Whether a format that is checked is beside the keyword, or beside the `allOf` around it. */
  readonly hasFormat?: boolean;
}

const single = words(`
  additionalItems additionalProperties contains else if items not propertyNames then
  unevaluatedItems unevaluatedProperties
`);
const lists = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'];
const maps = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];
/** Keywords whose values are no schemas. */
const plain = words(`
  const dependentRequired enum exclusiveMaximum exclusiveMinimum format maxContains maxItems
  maxLength maxProperties maximum minContains minItems minLength minProperties minimum multipleOf
  nullable pattern required type uniqueItems
`);
const loopsOverKeys = words(`
  additionalProperties maxProperties minProperties patternProperties propertyNames
  unevaluatedProperties
`);
const rejected = ['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'];

function readAt(given: unknown, place: Place, reading: Reading): Schema {
  const { path, depth } = place;
  const isBoolean = typeof given === 'boolean';
  if (!isBoolean && !isObject(given)) {
    throw new SchemaProblem(path, 'must be an object or a boolean');
  }
  if (depth > depthMax) throw new SchemaProblem(path, `is nested deeper than ${depthMax} levels`);
  if (++reading.schemas > schemasMax) throw tooMany(schemasMax, 'schemas');
  reading.targets.add(`#${path}`);
  if (isBoolean) return given;
  const read: Record<string, unknown> = {};
  let cost = 1;
  const hasFormat = isKnownFormat(given.format) || (place.hasFormat ?? false);
  for (const [keyword, value] of Object.entries(given)) {
    if (keyword === 'format' && isReplaced(given)) continue;
    const at = { path: `${path}/${escaped(keyword)}`, depth: depth + 1, hasFormat };
    const droppedBefore = reading.dropped.length;
    const usable = readKeyword(keyword, value, at, reading);
    const isLoose = reading.dropped.length > droppedBefore;
    const name = isLoose ? looseName(keyword, given) : keyword;
    if (usable === undefined || name === null) continue;
    cost += plain.includes(keyword) ? valuesIn(value) : entriesIn(value);
    read[name] = usable;
  }
  // What a dropped pattern allows must not count as additional.
  if (entriesIn(read.patternProperties) < entriesIn(given.patternProperties)) {
    delete read.additionalProperties;
    delete read.unevaluatedProperties;
  }
  const perKey = loopsOverKeys.some((keyword) => keyword in read);
  return { ...read, stepCost: { steps: cost, perKey } satisfies StepCost };
}

/**
 * Without one of its patterns, a schema matches more. The keyword that must not match more is left out; of several
 * alternatives, more than one may match.
 */
function looseName(keyword: string, given: object): string | null {
  if (keyword === 'not' || keyword === 'if') return null;
  if (keyword !== 'oneOf') return keyword;
  return 'anyOf' in given ? null : 'anyOf';
}

/** Zod's times may lack the zone and the seconds, which these formats demand: its pattern decides. */
function isReplaced({ format, pattern }: Readonly<Record<string, unknown>>): boolean {
  return (format === 'time' || format === 'date-time') && typeof pattern === 'string';
}

function readKeyword(keyword: string, value: unknown, at: Place, reading: Reading): unknown {
  if (rejected.includes(keyword)) throw new SchemaProblem(at.path, 'is not supported');
  if (keyword === '$ref') return readReference(value, at, reading);
  if (keyword === '$anchor') {
    if (typeof value === 'string') reading.targets.add(`#${value}`);
    return value;
  }
  if (keyword === 'pattern') return readPattern(value, at, reading);
  if (keyword === 'dependencies') return readDependencies(value, at, reading);
  if (lists.includes(keyword) && Array.isArray(value)) {
    const hasFormat = keyword === 'allOf' && (at.hasFormat ?? false);
    return value.map((one, index) =>
      readAt(one, { ...child(at, String(index)), hasFormat }, reading),
    );
  }
  if (single.includes(keyword)) return readAt(value, { ...at, hasFormat: false }, reading);
  if (maps.includes(keyword)) return readMap(keyword, value, at, reading);
  if (keyword === 'required' || keyword === 'dependentRequired') {
    countNames(reading, valuesIn(value) - 1);
  }
  return plain.includes(keyword) ? value : undefined;
}

function countNames(reading: Reading, count: number): void {
  reading.names += count;
  if (reading.names > namesMax) throw tooMany(namesMax, 'names of properties');
}

function tooMany(max: number, what: string): SchemaProblem {
  return new SchemaProblem('', `holds more than ${max} ${what}`);
}

function readMap(keyword: string, value: unknown, at: Place, reading: Reading): unknown {
  if (!isObject(value)) throw new SchemaProblem(at.path, 'must be an object');
  countNames(reading, Object.keys(value).length);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => {
      const below = child(at, name);
      const schema = readAt(one, below, reading);
      const isDropped =
        keyword === 'patternProperties' && readPattern(name, below, reading) === undefined;
      return isDropped ? [] : [[name, schema]];
    }),
  );
}

/** A schema, or the names of properties. */
function readDependencies(value: unknown, at: Place, reading: Reading): unknown {
  if (!isObject(value)) throw new SchemaProblem(at.path, 'must be an object');
  countNames(reading, valuesIn(Object.values(value).filter(Array.isArray)));
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

/**
 * Likewise for a schema that is not compiled: references to elsewhere are not followed, and nothing else is read.
 * @throws {SchemaProblem} for a reference that leads nowhere
 */
export function requireTargets(given: unknown): void {
  const found: FoundReferences = { anchors: new Set(), references: [] };
  findReferences(given, '', found);
  for (const { path, target } of found.references) {
    const isPointer = target === '#' || target.startsWith('#/');
    if (isPointer ? leadsTo(given, target) : found.anchors.has(target)) continue;
    throw new SchemaProblem(path, 'refers to no part of this schema');
  }
}

interface FoundReferences {
  readonly anchors: Set<string>;
  readonly references: { readonly path: string; readonly target: string }[];
}

function findReferences(given: unknown, path: string, found: FoundReferences): void {
  if (!isObject(given)) return;
  const { $ref, $id } = given;
  // In draft-07, an `$id` may be an anchor. Any other one begins a schema of its own, whose references begin there.
  const isAnchor = typeof $id === 'string' && $id.startsWith('#');
  if (isAnchor) found.anchors.add($id);
  else if (typeof $id === 'string' && path !== '') return;
  if (typeof $ref === 'string' && $ref.startsWith('#')) {
    found.references.push({ path: `${path}/$ref`, target: decoded($ref) });
  }
  for (const [keyword, value] of Object.entries(given)) {
    const at = `${path}/${escaped(keyword)}`;
    if (keyword === '$anchor' || keyword === '$dynamicAnchor') found.anchors.add(`#${value}`);
    if (single.includes(keyword)) findReferences(value, at, found);
    const isMap = maps.includes(keyword) || keyword === 'dependencies';
    const isMany = Array.isArray(value) ? lists.includes(keyword) : isMap && isObject(value);
    for (const [name, one] of isMany ? Object.entries(Object(value)) : []) {
      findReferences(one, `${at}/${escaped(name)}`, found);
    }
  }
}

function leadsTo(schema: unknown, pointer: string): boolean {
  let at = schema;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false;
    at = (at as Record<string, unknown>)[name];
  }
  return true;
}

/** Undefined for a pattern that is dropped. */
function readPattern(
  value: unknown,
  { path, hasFormat }: Place,
  reading: Reading,
): string | undefined {
  if (typeof value !== 'string') throw new SchemaProblem(path, 'must be a string');
  const { patterns, unreadable, dropped } = reading;
  if (!patterns.has(value) && !unreadable.has(value)) compilePattern(value, reading);
  const problem = unreadable.get(value);
  if (problem !== undefined && !hasFormat) dropped.push(new SchemaProblem(path, problem));
  return problem === undefined ? value : undefined;
}

function compilePattern(text: string, reading: Reading): void {
  const { patterns, unreadable } = reading;
  if (patterns.size + unreadable.size === patternsMax) throw tooMany(patternsMax, 'patterns');
  try {
    const pattern = linearPattern(text);
    patterns.set(text, pattern);
    reading.instructions += pattern.size;
  } catch (error) {
    const { message, cause: size } = error as Error;
    unreadable.set(text, message);
    reading.instructions += Number(size ?? 0);
  }
  if (reading.instructions > instructionsMax) {
    const advice = 'shorten them, or repeat less';
    throw new SchemaProblem(
      '',
      `has patterns of more than ${instructionsMax} instructions together: ${advice}`,
    );
  }
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
  const dialect = knownDialect(given);
  if (dialect !== null) return dialect;
  const message = 'must be draft 2020-12, 2019-09 or draft-07 of JSON Schema, or left out';
  throw new SchemaProblem('/$schema', message);
}

/** Null if it names another one. */
export function knownDialect(given: unknown): Dialect | null {
  const named = isObject(given) ? given.$schema : undefined;
  if (named === undefined) return '2020-12';
  const [known, old] = typeof named === 'string' ? (dialects.exec(named) ?? []) : [];
  if (known === undefined) return null;
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
