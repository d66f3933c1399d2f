import type { Static, TSchema } from 'typebox';
import { type IdKind, toId } from '../../core/id.ts';
import { idKind, isOwnId, isStoredAsSent } from '../contract/shared.ts';
import { RawJson } from './json-response.ts';

/**
 * Rows in API format. The contract says which properties a response has, in which order, and what each of them is; `toWire`
 * takes these from a row and leaves the others. A row may hold a value as the database does:
 *
 * | declared | row | response |
 * |---|---|---|
 * | identifier | UUID; that of the resource itself is `id` | with its prefix |
 * | time | `Date`, or milliseconds since 1970 | ISO 8601 |
 * | number | number, or decimal text | number |
 * | object, list, any JSON | the same, or `RawJson` | the text unchanged |
 * | object, list | JSON text | the text unchanged |
 * | optional | `null` or absent | absent, unless `null` is declared too |
 * | object that `isStoredAsSent`, or open to any property; union | the same | unchanged |
 *
 * What is computed is added to the row: `toWire(Agent, { ...row, apiEnabled: callable(row) })`.
 */
export function toWire<S extends TSchema>(schema: S, row: Stored<Static<S>>): Static<S> {
  return converterOf(schema)(row) as Static<S>;
}

/** What a row may hold where the response has a `T`. */
export type Stored<T> = T extends string
  ? T | (string extends T ? Date | number : never)
  : T extends number
    ? T | (number extends T ? string : never)
    : T extends boolean | null | undefined
      ? T
      : T extends readonly (infer Item)[]
        ? readonly Stored<Item>[] | RawJson | string
        : T extends object
          ? StoredFields<T> | RawJson | string
          : unknown;

type StoredFields<T> = {
  readonly [Name in keyof T as typeof isOwnId extends keyof T[Name] ? 'id' : Name]:
    | Stored<T[Name]>
    | (undefined extends T[Name] ? null : never);
};

type Convert = (value: unknown) => unknown;

/** The keywords of a schema that decide how a value is converted. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: boolean | TSchema;
  readonly required?: readonly string[];
  readonly [idKind]?: IdKind;
  readonly [isOwnId]?: true;
  readonly [isStoredAsSent]?: true;
}

const converters = new WeakMap<TSchema, Convert>();

/** Compiled once per schema. */
function converterOf(schema: TSchema): Convert {
  let convert = converters.get(schema);
  if (!convert) {
    convert = compile(schema);
    converters.set(schema, convert);
  }
  return convert;
}

function compile(schema: TSchema): Convert {
  const { anyOf, type, format, [idKind]: kind }: Schema = schema;
  if (anyOf) return alternatives(anyOf);
  if (kind) return (value) => (typeof value === 'string' ? toId(kind, value) : value);
  if (format === 'date-time') return timeText;
  switch (typesOf(type).find((one) => one !== 'null')) {
    case 'integer':
    case 'number':
      return (value) => (typeof value === 'string' ? Number(value) : value);
    case 'array':
      return list(schema);
    case 'object':
      return object(schema);
    default:
      return unchanged;
  }
}

const unchanged: Convert = (value) => value;

function typesOf(type: Schema['type']): readonly string[] {
  return type === undefined ? [] : [type].flat();
}

/** A schema or `null`, or alternatives that are stored as they are sent. */
function alternatives(anyOf: readonly TSchema[]): Convert {
  const converts = anyOf.filter(({ type }: Schema) => type !== 'null').map(converterOf);
  const [only] = converts;
  return only && converts.length === 1 ? only : unchanged;
}

const timeText: Convert = (value) => {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'number' ? new Date(value).toISOString() : value;
};

function list({ items }: Schema): Convert {
  const convert = items ? converterOf(items) : unchanged;
  return jsonOr((value) =>
    convert === unchanged ? value : (value as readonly unknown[]).map((item) => convert(item)),
  );
}

function object(schema: Schema): Convert {
  const { properties, additionalProperties: others } = schema;
  if (schema[isStoredAsSent] || others === true) return jsonOr(unchanged);
  if (properties) return jsonOr(fields(schema, properties));
  if (typeof others !== 'object') return jsonOr(unchanged);
  const convert = converterOf(others);
  if (convert === unchanged) return jsonOr(unchanged);
  return jsonOr((value) =>
    Object.fromEntries(
      Object.entries(value as object).map(([name, each]) => [name, convert(each)]),
    ),
  );
}

/** An object or a list, which may be JSON text. */
function jsonOr(convert: Convert): Convert {
  return (value) => {
    if (typeof value === 'string') return new RawJson(value);
    return value === null || value instanceof RawJson ? value : convert(value);
  };
}

function fields({ required = [] }: Schema, properties: Readonly<Record<string, TSchema>>): Convert {
  const all = Object.entries(properties).map(([name, property]) => ({
    name,
    from: (property as Schema)[isOwnId] ? 'id' : name,
    convert: converterOf(property),
    omitsNull: !required.includes(name) && !isNullable(property),
  }));
  return (value) => {
    const row = value as Readonly<Record<string, unknown>>;
    const wire: Record<string, unknown> = {};
    for (const { name, from, convert, omitsNull } of all) {
      const stored = row[from];
      if (stored === undefined || (stored === null && omitsNull)) continue;
      wire[name] = convert(stored);
    }
    return wire;
  };
}

function isNullable({ anyOf = [], type }: Schema): boolean {
  return typesOf(type).includes('null') || anyOf.some(isNullable);
}
