import type { TSchema } from 'typebox';
import { requirementOf } from '../../contract/patterns.ts';
import { unknownName } from '../../core/failure.ts';

/** What the validator complains of, in words for whoever sent it. */

/** One complaint of the validator: where, by which part of the schema, which keyword, and what that allows. */
export interface Complaint {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export function pathOf({ instancePath }: Complaint): string {
  return cut(instancePath.slice(1)).replaceAll('/', '.');
}

/** Names the place and what is allowed there. */
export function explain(
  complaint: Complaint,
  schema: TSchema,
  named: (path: string) => string,
): string {
  const { keyword, params, message, schemaPath } = complaint;
  const path = pathOf(complaint);
  const part = partOf(schema, schemaPath);
  const inner = (name: unknown) => named(path === '' ? cut(name) : `${path}.${cut(name)}`);
  switch (keyword) {
    case 'required':
      return `${inner((params.requiredProperties as string[] | undefined)?.[0])} is missing.`;
    case 'additionalProperties':
      return unknownName(inner((params.additionalProperties as string[])[0]), namesIn(part));
    // Of a field that is not known: what it is not known to is what holds this part.
    case 'boolean':
      return unknownName(named(path), namesIn(partOf(schema, schemaPath.replace(/\/\w+$/, ''))));
    case 'enum':
      return `${named(path)} must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}.`;
    default:
      return `${named(path)} ${rangeOf(part) ?? words[keyword]?.(params) ?? message}.`;
  }
}

/** A name as it was sent may be as long as a body. */
export function cut(name: unknown): string {
  const text = String(name);
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}

/** More than any name of ours, wherever it stands. */
const shownCharsMax = 300;

type Part = Readonly<Record<string, unknown>>;

/** In place of the validator's own words, where those are none. */
const words: Readonly<Record<string, (params: Part) => string | undefined>> = {
  pattern: ({ pattern }) => requirementOf(pattern),
  type: ({ type }) => `must be ${[type].flat().map(kindOf).join(' or ')}`,
  minLength: ({ limit }) => (limit === 1 ? notEmpty : `must have at least ${limit} characters`),
  minItems: ({ limit }) => (limit === 1 ? notEmpty : `must have at least ${limit} items`),
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
};
const notEmpty = 'must not be empty';

const kinds: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function kindOf(type: unknown): string {
  return kinds[String(type)] ?? String(type);
}

/** The part of a schema that a path such as `#/properties/tags/items` leads to. */
function partOf(schema: TSchema, schemaPath: string): Part {
  const steps = schemaPath.split('/').slice(1);
  return steps.reduce((part, step) => (part[step] ?? {}) as Part, schema as Part);
}

/** The names that may stand there; of a pattern the part that is a text, and `NAME`. */
function namesIn({ properties = {}, patternProperties = {} }: Part): string[] {
  const patterns = Object.keys(patternProperties as object).map((one) =>
    one.replace(/^\^(\w+)\\\.\.$/, '$1.NAME'),
  );
  return [...Object.keys(properties as object), ...patterns];
}

/** The whole range of a number, where it is bounded on both sides: it says more than one bound. */
function rangeOf({ type, minimum, maximum }: Part): string | null {
  const [kind, ...others] = [type].flat();
  if (kind !== 'integer' && kind !== 'number') return null;
  if (minimum === undefined || maximum === undefined) return null;
  const range = `${kindOf(kind)} from ${minimum} to ${maximum}`;
  return `must be ${[range, ...others.map(kindOf)].join(' or ')}`;
}
