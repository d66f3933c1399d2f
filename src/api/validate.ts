import { type TObject, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { CallFailure } from '../core/failure.ts';
import { parseBody, type RawBody } from './body.ts';
import { shorten } from './shorten.ts';

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
  const value = Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      return [name, typeof text === 'string' && property ? read(property, text) : text];
    }),
  );
  check(schema, value, (path) => (path === '' ? 'The query' : `Parameter "${path}"`));
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

const unexplained = { keyword: '', instancePath: '', params: {}, message: 'is not valid' };

/** One complaint of the validator: where, which keyword, and what that keyword allows. */
interface Complaint {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
}

function pathOf({ instancePath }: Complaint): string {
  return cut(instancePath.slice(1)).replaceAll('/', '.');
}

/** Names the place and what is allowed there. */
function explain(complaint: Complaint, schema: TSchema, named: (path: string) => string): string {
  const { keyword, params, message } = complaint;
  const path = pathOf(complaint);
  const inner = (name: unknown) => named(path === '' ? cut(name) : `${path}.${cut(name)}`);
  switch (keyword) {
    case 'required':
      return `${inner((params.requiredProperties as string[] | undefined)?.[0])} is missing.`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `${inner((params.additionalProperties as string[] | undefined)?.[0])} is not known${path === '' ? knownIn(schema) : ''}.`;
    case 'enum':
      return `${named(path)} must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}.`;
    case 'boolean':
      return `${named(path)} is not known${path.includes('.') ? '' : knownIn(schema)}.`;
    default:
      return `${named(path)} ${rangeOf(schema, path) ?? message}.`;
  }
}

/** A name as it was sent may be as long as a body. */
function cut(name: unknown): string {
  const text = String(name);
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}

/** More than any name of ours, wherever it stands. */
const shownCharsMax = 300;

/** What may stand at the top; deeper the names would have to be looked for. Of a pattern the part that is a text, and `NAME`. */
function knownIn(schema: TSchema): string {
  const { properties = {}, patternProperties = {} } = schema as Record<string, object>;
  const patterns = Object.keys(patternProperties).map((one) =>
    one.replace(/^\^(\w+)\\\.\.$/, '$1.NAME'),
  );
  const names = [...Object.keys(properties), ...patterns];
  return names.length > 0 ? `: allowed are ${names.join(', ')}` : '';
}

/** The whole range of a whole number, where the schema bounds it on both sides: it says more than one bound. */
function rangeOf(schema: TSchema, path: string): string | null {
  const { properties = {} } = schema as { properties?: Record<string, unknown> };
  const { type, minimum, maximum } = (properties[path] ?? {}) as Record<string, unknown>;
  if (type !== 'integer' || minimum === undefined || maximum === undefined) return null;
  return `must be a whole number from ${minimum} to ${maximum}`;
}
