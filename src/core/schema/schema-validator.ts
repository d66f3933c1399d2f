import {
  Ajv,
  type ErrorObject,
  type FuncKeywordDefinition,
  type Options,
  type ValidateFunction,
} from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fastFormats, fullFormats } from 'ajv-formats/dist/formats.js';
import { invalidRequest } from '../failure.ts';
import { isObject } from '../is-object.ts';
import { canonical } from '../json.ts';
import { LruCache } from '../lru-cache.ts';
import { linearPattern } from './linear-pattern.ts';
import {
  type Dialect,
  readSchema,
  type Schema,
  SchemaProblem,
  type StepCost,
} from './read-schema.ts';

/**
 * Validates values against JSON schemas that users wrote, with Ajv.
 *
 * A hostile schema must not stop the process, whose other users wait. So every evaluation has a budget that grows with
 * the length of the value: each schema that is evaluated and each character that a pattern reads takes a part of it.
 * Without the budget, references alone could make it exponential. Patterns are linear (`linear-pattern.ts`), and
 * `uniqueItems` is here linear too. Formats are checked on short texts only.
 */

/** Where a value does not match, as a JSON pointer into it, and why. */
export interface Mismatch {
  readonly path: string;
  readonly message: string;
}

export type Validator = (value: unknown, chars: number) => Mismatch | null;

/** Characters of a schema as JSON. */
export const schemaCharsMax = 65_536;
/** Characters of the cached schemas together; compiled they take about ten times as much. */
const cachedCharsMax = 2_097_152;

const cache = new LruCache<{ readonly validate: Validator; readonly chars: number }>(
  cachedCharsMax,
  ({ chars }) => chars,
);

/**
 * The compiled schema.
 * @param schema JSON text
 * @throws {SchemaProblem} if it is no valid schema
 */
export function schemaValidator(schema: string): Validator {
  const create = () => ({ validate: compile(schema), chars: schema.length });
  return cache.getOrCreate(schema, create).validate;
}

/** @throws {CallFailure} that names the field and the place in the schema */
export function requireSchema(field: string, schema: unknown): void {
  try {
    const text = JSON.stringify(schema);
    if (text.length > schemaCharsMax) {
      throw new SchemaProblem('', `is longer than ${schemaCharsMax} characters`);
    }
    schemaValidator(text);
  } catch (error) {
    if (!(error instanceof SchemaProblem)) throw error;
    const path = error.path && ` at ${error.path.slice(0, shownCharsMax)}`;
    throw invalidRequest(`Field "${field}" is not a valid JSON schema${path}: ${error.message}.`);
  }
}

const shownCharsMax = 200;

/** What is left of the budget of the evaluation in progress. Evaluations do not overlap. */
let stepsLeft = 0;
const stepsMax = 3_000_000;
const stepsPerChar = 50;
const stepsMin = 100_000;

class OutOfSteps extends Error {}

function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new OutOfSteps();
}

function compile(text: string): Validator {
  const given: unknown = JSON.parse(text);
  const { schema, dialect } = readSchema(given);
  requireValidKeywords(dialect, given);
  const check = compiled(dialect, schema);
  return (value, chars) => {
    stepsLeft = Math.min(stepsMax, stepsMin + stepsPerChar * chars);
    try {
      return check(value) ? null : mismatchOf(check.errors?.[0]);
    } catch (error) {
      // References can also recurse without end.
      if (!(error instanceof OutOfSteps || error instanceof RangeError)) throw error;
      return { path: '', message: 'takes too long to check: simplify the schema or the value' };
    }
  };
}

/** Each schema has its own instance: an instance holds what it compiled for good. */
function compiled(dialect: Dialect, schema: Schema): ValidateFunction {
  const ajv = instance(dialect);
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
        spend(steps + (perKey && isObject(value) ? Object.keys(value).length : 0));
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

/** Longer texts do not match a format, whose patterns are JavaScript's own. */
const formatCharsMax = 2_000;

const formats = Object.fromEntries(
  Object.entries(fastFormats).flatMap(([name, fast]) => {
    // The fast form of a date accepts February 30.
    const exact = /date|time/.test(name) ? fullFormats[name as keyof typeof fullFormats] : fast;
    const check = checkOf(exact);
    if (name === 'regex' || check === null) return [];
    return [[name, (text: string) => text.length <= formatCharsMax && check(text)]];
  }),
);

function checkOf(format: unknown): ((text: string) => boolean) | null {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return format as (text: string) => boolean;
  const { validate, type } = Object(format) as { validate?: unknown; type?: unknown };
  return type === 'number' || validate === undefined ? null : checkOf(validate);
}

function patternEngine(pattern: string) {
  const { size, test } = linearPattern(pattern);
  const stepsPerCharacter = 1 + Math.ceil(size / 16);
  return {
    test(text: string): boolean {
      spend(1 + text.length * stepsPerCharacter);
      return test(text);
    },
    toString: () => `/${pattern}/linear`,
  };
}
patternEngine.code = 'linearPattern';

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
  // biome-ignore lint/suspicious/noExplicitAny: Ajv declares a RegExp, and uses only `test`.
  code: { regExp: patternEngine as any, optimize: false },
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
