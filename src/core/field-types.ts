import { type Static, type TSchema, Type } from 'typebox';
import { type IdKind, idPattern, toId } from './id.ts';

/** Types of fields that the contract and the table of an execution's fields share. */

/** Marks an identifier in a response with its kind. A symbol, because it is no part of the schema. */
export const idKind = Symbol('kind of identifier');

/** An identifier in a response. */
export function id(kind: IdKind, description?: string) {
  return Type.String({
    pattern: idPattern(kind),
    [idKind]: kind,
    ...(description === undefined ? {} : { description }),
    examples: [exampleId(kind)],
  });
}

/** The example identifier of a kind, the same everywhere. */
export function exampleId(kind: IdKind): string {
  return toId(kind, '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41');
}

/** One of the given strings. */
export function oneOf<const Values extends readonly string[]>(
  values: Values,
  description?: string,
) {
  return Type.Unsafe<Values[number]>({
    type: 'string',
    enum: [...values],
    ...(description === undefined ? {} : { description }),
  });
}

/**
 * The schema or `null`, as one `type` with two names, which gives shorter schemas and errors than
 * `anyOf`.
 */
export function nullable<S extends TSchema>(schema: S, description?: string) {
  const { type, enum: values, anyOf, ...rest } = schema as Alternatives;
  if (anyOf) return Type.Unsafe<Static<S> | null>({ ...schema, anyOf: [...anyOf, Type.Null()] });
  if (typeof type !== 'string') throw new Error('only a schema with a single type can be nullable');
  return Type.Unsafe<Static<S> | null>({
    type: [type, 'null'],
    ...(values ? { enum: [...values, null] } : {}),
    ...rest,
    ...(description === undefined ? {} : { description }),
  });
}

interface Alternatives {
  readonly type?: unknown;
  readonly enum?: unknown[];
  readonly anyOf?: readonly TSchema[];
}

/** A time in a response. */
export function time(description: string) {
  return Type.String({
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
    description,
    examples: ['2026-11-21T09:30:00.000Z'],
  });
}
