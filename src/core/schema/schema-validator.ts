import {
  Ajv,
  type ErrorObject,
  type FuncKeywordDefinition,
  type Options,
  type ValidateFunction,
} from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { computeJob } from '../compute.ts';
import { isObject } from '../is-object.ts';
import { canonical } from '../json.ts';
import { LruCache } from '../lru-cache.ts';
import { definitionsCharsMax } from '../tools/tool-server.ts';
import { formats } from './formats.ts';
import type { LinearPattern } from './linear-pattern.ts';
import {
  type Dialect,
  knownDialect,
  type ReadSchema,
  readSchema,
  requireTargets,
  SchemaProblem,
  type StepCost,
} from './read-schema.ts';

/**
 * Validates values against JSON schemas that users wrote, with Ajv.
 *
 * A hostile schema must not stop the process, whose other users wait. So every evaluation has a budget that grows with
 * the length of the value: each schema that is evaluated and each character that a pattern reads takes a part of it.
 * Without the budget, references alone could make it exponential. Patterns are linear (`linear-pattern.ts`), and
 * `uniqueItems` is here linear too. Formats are checked on short texts only. Compiling has a budget of its own
 * (`read-schema.ts`).
 *
 * Both budgets allow for more time than the event loop has, so whatever calls this runs in the compute thread.
 */

/** Where a value does not match, as a JSON pointer into it, and why. */
export interface Mismatch {
  readonly path: string;
  readonly message: string;
}

export type Validator = (value: unknown, chars: number) => Mismatch | null;

/** Characters of a schema as JSON. */
export const schemaCharsMax = 65_536;
/**
 * Characters of the cached schemas together and their `compileCost`; compiled they take about ten times as much memory. The
 * schemas of one workspace may have a quarter.
 */
const cacheMax = 4_194_304;

interface Compiled {
  readonly workspaceId: string;
  readonly validate: Validator;
  readonly dropped: readonly SchemaProblem[];
  readonly size: number;
}

const cache = new LruCache<Compiled>(cacheMax, ({ size }) => size, {
  max: cacheMax / 4,
  ownerOf: ({ workspaceId }) => workspaceId,
});

/** A schema as JSON text, and the workspace whose share of the cache it uses. */
export interface SchemaText {
  readonly workspaceId: string;
  readonly schema: string;
}

/**
 * The compiled schema.
 * @throws {SchemaProblem} if it is no valid schema
 */
export function schemaValidator(schema: SchemaText): Validator {
  return compiledOnce(schema).validate;
}

function compiledOnce({ workspaceId, schema }: SchemaText): Compiled {
  const create = (): Compiled => {
    const { compileCost, ...made } = compile(schema);
    return { workspaceId, ...made, size: schema.length + compileCost };
  };
  return cache.getOrCreate(`${workspaceId} ${schema}`, create);
}

/**
 * What is wrong with a schema, as the end of a sentence about its field; null if it is valid.
 * @param strict whether it must check each of its patterns
 */
export function findSchemaProblem({
  strict = false,
  ...given
}: SchemaText & { readonly strict?: boolean }): string | null {
  return problemOf(given.schema, schemaCharsMax, () => {
    const [dropped] = compiledOnce(given).dropped;
    if (strict && dropped) throw dropped;
  });
}

/**
 * Likewise for the schema of a tool, as JSON. It is not compiled here, so limits of compiling do not hold, and what Cueline does not
 * know is left to models: other dialects, patterns, and references to elsewhere.
 */
export function findToolSchemaProblem(schema: string): string | null {
  return problemOf(schema, definitionsCharsMax, () => {
    const given: unknown = JSON.parse(schema);
    const dialect = knownDialect(given);
    if (dialect === null) return;
    requireValidKeywords(dialect, given);
    requireTargets(given);
  });
}

function problemOf(schema: string, charsMax: number, check: () => void): string | null {
  try {
    if (schema.length > charsMax) {
      throw new SchemaProblem('', `is longer than ${charsMax} characters`);
    }
    check();
    return null;
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error;
    return `is not a valid JSON schema${placeOf(error)}: ${error.message}`;
  }
}

function placeOf({ path }: SchemaProblem): string {
  return path && ` at ${path.slice(0, shownCharsMax)}`;
}

/** The patterns of a schema that are not checked, each as a sentence about its field. */
export function schemaWarnings({ field, ...schema }: SchemaText & { field: string }): string[] {
  try {
    return compiledOnce(schema).dropped.map(
      (one) =>
        `Field "${field}" has a pattern${placeOf(one)} that is not checked, because it ${one.message}.`,
    );
  } catch (error) {
    // Stored before a limit of today existed.
    if (!(error instanceof SchemaProblem)) throw error;
    return [];
  }
}

export const schemaWarningsJob = computeJob(import.meta.url, schemaWarnings);

export const findSchemaProblemJob = computeJob(import.meta.url, findSchemaProblem);

export const findToolSchemaProblemJob = computeJob(import.meta.url, findToolSchemaProblem);

/**
 * Where a value does not match; null if it matches. A schema that was stored before a limit of today existed matches nothing.
 * @param json the value
 */
export function findMismatch(schema: SchemaText, json: string): Mismatch | null {
  try {
    return schemaValidator(schema)(JSON.parse(json), json.length);
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error;
    return { path: '', message: `cannot be checked, because its schema ${error.message}` };
  }
}

const shownCharsMax = 200;

/** What is left of the budget of the evaluation in progress. Evaluations do not overlap. */
let stepsLeft = 0;
const stepsMax = 3_000_000;
const stepsPerChar = 50;
const stepsMin = 100_000;
/** Listing the keys of a large object is slow, and keywords do it again. */
const stepsPerKey = 8;

class OutOfSteps extends Error {}

function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new OutOfSteps();
}

function compile(text: string): Omit<Compiled, 'workspaceId' | 'size'> & { compileCost: number } {
  const given: unknown = JSON.parse(text);
  const read = readSchema(given);
  requireValidKeywords(read.dialect, given);
  const check = compiled(read);
  const validate: Validator = (value, chars) => {
    stepsLeft = Math.min(stepsMax, stepsMin + stepsPerChar * chars);
    try {
      return check(value) ? null : mismatchOf(check.errors?.[0]);
    } catch (error) {
      // References can also recurse without end.
      if (!(error instanceof OutOfSteps || error instanceof RangeError)) throw error;
      return { path: '', message: 'takes too long to check: simplify the schema or the value' };
    }
  };
  const { dropped, compileCost } = read;
  return { validate, dropped, compileCost };
}

/** Each schema has its own instance: an instance holds what it compiled for good. */
function compiled({ dialect, schema, patterns }: ReadSchema): ValidateFunction {
  const ajv = instance(dialect, { code: { regExp: patternEngine(patterns), optimize: false } });
  for (const keyword of ownKeywords) {
    ajv.removeKeyword(String(keyword.keyword));
    ajv.addKeyword(keyword);
  }
  try {
    return ajv.compile(schema);
  } catch (error) {
    throw new SchemaProblem('', `cannot be compiled (${(error as Error).message})`);
  }
}

/** Checks the keywords of a schema. The compiled rules for that are the same for all. */
function requireValidKeywords(dialect: Dialect, given: unknown): void {
  const { $schema: _, ...keywords } = Object(given) as Record<string, unknown>;
  const rules = metaInstance(dialect);
  if (rules.validateSchema(keywords)) return;
  const { path, message } = mismatchOf(rules.errors?.[0]);
  throw new SchemaProblem(path, message);
}

const metaInstances = new Map<Dialect, Ajv>();

function metaInstance(dialect: Dialect): Ajv {
  const known = metaInstances.get(dialect);
  if (known) return known;
  const made = instance(dialect, { meta: true });
  metaInstances.set(dialect, made);
  return made;
}

function instance(dialect: Dialect, more: Options = {}): Ajv {
  const all = { ...options, ...more };
  return dialect === 'draft-07' ? new Ajv(all) : new Ajv2020(all);
}

/** Each takes its part of the budget. Ajv's own read a whole text or compare every pair of items, whatever it takes. */
const ownKeywords: readonly FuncKeywordDefinition[] = [
  {
    ...{ keyword: 'stepCost', schemaType: 'object', errors: false },
    compile:
      ({ steps, perKey }: StepCost) =>
      (value: unknown) => {
        spend(steps + (perKey && isObject(value) ? stepsPerKey * Object.keys(value).length : 0));
        return true;
      },
  },
  {
    ...{ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean' },
    validate: (unique: boolean, items: unknown[]) => !unique || areUnique(items),
    error: { message: 'must not have duplicate items' },
  },
  {
    ...{ keyword: 'minLength', type: 'string', schemaType: 'number' },
    validate: (min: number, text: string) => text.length >= 2 * min || charactersIn(text) >= min,
    error: { message: ({ schema }) => `must have at least ${schema} characters` },
  },
  {
    ...{ keyword: 'maxLength', type: 'string', schemaType: 'number' },
    validate: (max: number, text: string) =>
      text.length <= max || (text.length <= 2 * max && charactersIn(text) <= max),
    error: { message: ({ schema }) => `must have at most ${schema} characters` },
  },
];

function areUnique(items: readonly unknown[]): boolean {
  const texts = items.map((item) => {
    const text = JSON.stringify(item);
    spend(1 + (isObject(item) ? 5 : 1) * text.length);
    return isObject(item) ? canonical(text) : text;
  });
  return new Set(texts).size === texts.length;
}

/** A character beyond the basic plane has two units. */
function charactersIn(text: string): number {
  spend(text.length);
  let count = 0;
  for (const _ of text) count++;
  return count;
}

type RegExpEngine = NonNullable<NonNullable<Options['code']>['regExp']>;

/** Ajv asks for a pattern wherever it occurs. */
function patternEngine(patterns: ReadonlyMap<string, LinearPattern>): RegExpEngine {
  const engine = (pattern: string) => {
    const known = patterns.get(pattern);
    if (!known) throw new Error('A pattern of the schema was not read.');
    const stepsPerCharacter = 1 + Math.ceil(known.size / 16);
    return {
      test(text: string): boolean {
        spend(1 + text.length * stepsPerCharacter);
        return known.test(text);
      },
      toString: () => `/${pattern}/linear`,
    };
  };
  engine.code = 'linearPattern';
  // Ajv declares a RegExp, and uses only `test`.
  return engine as unknown as RegExpEngine;
}

const options: Options = {
  strict: false,
  logger: false,
  // `requireValidKeywords` has checked it, with one instance for all.
  meta: false,
  validateSchema: false,
  // Own properties only: otherwise every object would have `constructor`.
  ownProperties: true,
  // Inlined, many references to a long schema would make longer code.
  inlineRefs: false,
  formats,
};

function mismatchOf(error: ErrorObject | undefined): Mismatch {
  if (!error) return { path: '', message: 'does not match' };
  const { keyword, params, instancePath: path, message = 'does not match' } = error;
  const { allowedValues, allowedValue, additionalProperty, unevaluatedProperty } = params;
  if (keyword === 'enum') return { path, message: `must be one of ${shown(allowedValues)}` };
  if (keyword === 'const') return { path, message: `must be ${shown(allowedValue)}` };
  const extra = additionalProperty ?? unevaluatedProperty;
  if (extra !== undefined) return { path, message: `must not have the property ${shown(extra)}` };
  return { path, message };
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}
