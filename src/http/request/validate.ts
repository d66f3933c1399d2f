import { type TObject, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { CallFailure, invalidRequest } from '../../core/failure.ts';
import { splitValues } from '../../core/split-values.ts';
import { parseBody, type RawBody } from './body.ts';
import { shorten } from './shorten-body.ts';
import { unionMember } from './union-member.ts';
import { pathOf, truncate, type ValidationError, validationMessage } from './validation-message.ts';

/** Validates requests against the contract. Bodies are never converted; query texts become numbers and booleans. */

const validators = new WeakMap<TSchema, Validator>();

/** The schema of operations without fields or without parameters. */
export const noFields = Type.Object({}, { additionalProperties: false });

/**
 * The validated body; undefined for an operation without fields. Such an operation accepts no body and an empty object,
 * which many clients always send. It rejects everything else, because the client means another operation.
 */
export function readFields<T>(
  rawBody: RawBody,
  { body, bodyOptional }: { readonly body?: TSchema; readonly bodyOptional?: true },
): T | undefined {
  const value = parseBody(rawBody);
  if (value !== undefined) {
    const checked = checkBody<T>(body ?? noFields, value);
    return body && checked;
  }
  if (!body) return undefined;
  if (bodyOptional) return {} as T;
  throw new CallFailure('MALFORMED_BODY', 'The body is missing.');
}

export function checkBody<T>(schema: TSchema, value: unknown): T {
  check(schema, value, (path) => (path === '' ? 'The body' : `Field "${path}"`));
  return value as T;
}

export function checkQuery<T>(schema: TObject, query: Readonly<Record<string, unknown>>): T {
  const parameters = Object.entries(query).map(([name, sent]) => ({ name, texts: [sent].flat() }));
  const value = Object.fromEntries(
    parameters.map(({ name, texts: [text] }) => {
      const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      return [name, typeof text === 'string' && property ? convert(property, text) : text];
    }),
  );
  // An item of a list is reported by the name of its parameter.
  const nameOf = (path: string) => {
    const [, list = ''] = /^(.+)\.\d+$/.exec(path) ?? [];
    return Object.hasOwn(schema.properties, list) ? list : path;
  };
  check(schema, value, (path) => (path === '' ? 'The query' : `Parameter "${nameOf(path)}"`));
  const { additionalProperties = false } = schema as { additionalProperties?: boolean };
  const repeated = parameters.find(({ texts }) => texts.length > 1 && !additionalProperties);
  if (repeated) {
    throw invalidRequest(`Parameter "${truncate(repeated.name)}" may be given only once.`);
  }
  return value as T;
}

/** All validation errors of a value with their paths. A union reports the errors of each member. */
export function validationErrors(
  schema: TSchema,
  value: unknown,
): { path: string; message: string }[] {
  const validator = compile(schema);
  if (validator.Check(value)) return [];
  return findErrors(validator, schema, value).map((error) => ({
    path: pathOf(error),
    message: validationMessage(error, schema, (path) =>
      path === '' ? 'The definition' : `Field "${path}"`,
    ),
  }));
}

function compile(schema: TSchema): Validator {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  return validator;
}

function convert(schema: TSchema, text: string): unknown {
  const { type } = schema as { type?: unknown };
  if (type === 'array') return listedValues(schema as ListSchema, text);
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

interface ListSchema {
  readonly items: { readonly enum?: unknown; readonly maxLength?: number };
  readonly maxItems: number;
}

/**
 * The values of a list. A text with commas but without escapes is also one of them, unless only certain values are
 * allowed or the list is full: callers may not know the escapes.
 */
function listedValues({ items, maxItems }: ListSchema, text: string): string[] {
  const values = new Set(splitValues(text));
  const { maxLength = Infinity } = items;
  const mayBeOne = items.enum === undefined && !escaped.test(text) && text.length <= maxLength;
  if (mayBeOne && values.size > 1 && values.size < maxItems) values.add(text);
  return [...values];
}

const escaped = /\\[\\,]/;

function check(schema: TSchema, value: unknown, describe: (path: string) => string): void {
  const validator = compile(schema);
  if (validator.Check(value)) return;
  const errors = findErrors(validator, schema, value);
  const [first] = errors;
  const member = first && unionMember(schema, value, first);
  if (member && !compile(member.schema).Check(member.value)) {
    const above = pathOf(member);
    const inside = (path: string) => describe([above, path].filter(Boolean).join('.'));
    check(member.schema, member.value, inside);
  }
  // The allowed values help more than the allowed type.
  const shown =
    errors.find(
      (other) => other.keyword === 'enum' && other.instancePath === first?.instancePath,
    ) ?? first;
  throw invalidRequest(validationMessage(shown ?? unexplained, schema, describe));
}

/** Never empty: an error that the shortened value does not show is still an error. */
function findErrors(validator: Validator, schema: TSchema, value: unknown): ValidationError[] {
  const errors = validator.Errors(shorten(schema, value)) as ValidationError[];
  return errors.length > 0 ? errors : [unexplained];
}

const unexplained = {
  keyword: '',
  instancePath: '',
  schemaPath: '#',
  params: {},
  message: 'is not valid',
};
