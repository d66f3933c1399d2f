import { type TObject, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { CallFailure } from '../../core/failure.ts';
import { parseBody, type RawBody } from './body.ts';
import { shorten } from './shorten-body.ts';
import { type Complaint, cut, explain, pathOf } from './validation-message.ts';

/** Holds what is sent against the contract. Bodies strictly; of queries only numbers and booleans are read. */

const compiled = new WeakMap<TSchema, Validator>();

/** What an operation knows that has no fields, or no parameters. */
export const nothing = Type.Object({}, { additionalProperties: false });

/**
 * The body as it was sent, as fields; undefined of an operation without fields. That one takes no body and an empty object, which many
 * clients cannot but send, and refuses all else: who sends more means another operation.
 */
export function fieldsOf<T>(
  sent: RawBody,
  { body, bodyOptional }: { readonly body?: TSchema; readonly bodyOptional?: true },
): T | undefined {
  const value = parseBody(sent);
  if (value !== undefined) {
    const checked = checkBody<T>(body ?? nothing, value);
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
  const given = Object.entries(query).map(([name, sent]) => ({ name, texts: [sent].flat() }));
  const value = Object.fromEntries(
    given.map(({ name, texts: [text] }) => {
      const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      return [name, typeof text === 'string' && property ? read(property, text) : text];
    }),
  );
  check(schema, value, (path) => (path === '' ? 'The query' : `Parameter "${path}"`));
  const again = given.find(({ texts }) => texts.length > 1);
  if (again) {
    const message = `Parameter "${cut(again.name)}" may be given only once.`;
    throw new CallFailure('INVALID_REQUEST', message);
  }
  return value as T;
}

/** All that is wrong with a value, and where; a union complains of each of its parts. */
export function complaints(schema: TSchema, value: unknown): { path: string; message: string }[] {
  const validator = compile(schema);
  if (validator.Check(value)) return [];
  return complaintsOf(validator, schema, value).map((one) => ({
    path: pathOf(one),
    message: explain(one, schema, (path) => (path === '' ? 'The definition' : `"${path}"`)),
  }));
}

function compile(schema: TSchema): Validator {
  const validator = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, validator);
  return validator;
}

function read(schema: TSchema, text: string): unknown {
  const type = (schema as { type?: unknown }).type;
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function check(schema: TSchema, value: unknown, named: (path: string) => string): void {
  const validator = compile(schema);
  if (validator.Check(value)) return;
  const found = complaintsOf(validator, schema, value);
  // What is allowed says more than which type it has.
  const [one] = found;
  const first =
    found.find((other) => other.keyword === 'enum' && other.instancePath === one?.instancePath) ??
    one;
  const message = explain(first ?? unexplained, schema, named);
  throw new CallFailure('INVALID_REQUEST', message);
}

/** Never none: what is wrong and not found again in what was left of it is wrong all the same. */
function complaintsOf(validator: Validator, schema: TSchema, value: unknown): Complaint[] {
  const found = validator.Errors(shorten(schema, value)) as Complaint[];
  return found.length > 0 ? found : [unexplained];
}

const unexplained = {
  ...{ keyword: '', instancePath: '', schemaPath: '#', params: {} },
  message: 'is not valid',
};
