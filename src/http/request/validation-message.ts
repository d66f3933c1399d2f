import type { TSchema } from 'typebox';
import { unknownName } from '../../core/failure.ts';
import { requirementOf } from '../contract/patterns.ts';

/** Messages for validation errors. */

/** An error of the validator: the path of the value, the path and keyword of the schema, and what the keyword allows. */
export interface ValidationError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export function pathOf({ instancePath }: Pick<ValidationError, 'instancePath'>): string {
  return truncate(instancePath.slice(1)).replaceAll('/', '.');
}

/** The message of a validation error: the field, and what is allowed there. */
export function validationMessage(
  error: ValidationError,
  schema: TSchema,
  describe: (path: string) => string,
): string {
  const { keyword, params, message, schemaPath } = error;
  const path = pathOf(error);
  const node = schemaNode(schema, schemaPath);
  const describeField = (name: unknown) =>
    describe(path === '' ? truncate(name) : `${path}.${truncate(name)}`);
  switch (keyword) {
    case 'required':
      return `${describeField((params.requiredProperties as string[] | undefined)?.[0])} is missing.`;
    case 'additionalProperties':
      return unknownName(
        describeField((params.additionalProperties as string[])[0]),
        allowedNames(node),
      );
    // Reported for an unknown field; the parent node lists the known ones.
    case 'boolean':
      return unknownName(
        describe(path),
        allowedNames(schemaNode(schema, schemaPath.replace(/\/\w+$/, ''))),
      );
    case 'enum':
      return `${describe(path)} must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}.`;
    default:
      return `${describe(path)} ${numberRange(node) ?? messages[keyword]?.(params) ?? message}.`;
  }
}

/** Shortens a name from the request, which may be as long as the body. */
export function truncate(name: unknown): string {
  const text = String(name);
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}

/** Longer than the path of any known field. */
const shownCharsMax = 300;

type SchemaNode = Readonly<Record<string, unknown>>;

/** Replaces messages of the validator that are not readable. */
const messages: Readonly<Record<string, (params: SchemaNode) => string | undefined>> = {
  pattern: ({ pattern }) => requirementOf(pattern),
  type: ({ type }) => `must be ${[type].flat().map(typeName).join(' or ')}`,
  minLength: ({ limit }) => (limit === 1 ? notEmpty : `must have at least ${limit} characters`),
  minItems: ({ limit }) => (limit === 1 ? notEmpty : `must have at least ${limit} items`),
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
};
const notEmpty = 'must not be empty';

const typeNames: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function typeName(type: unknown): string {
  return typeNames[String(type)] ?? String(type);
}

/** The node of a schema at a path such as `#/properties/tags/items`. */
function schemaNode(schema: TSchema, schemaPath: string): SchemaNode {
  const steps = schemaPath.split('/').slice(1);
  return steps.reduce((node, step) => (node[step] ?? {}) as SchemaNode, schema as SchemaNode);
}

/** The allowed names; a pattern such as that of `variables.…` is shown as `variables.NAME`. */
function allowedNames({ properties = {}, patternProperties = {} }: SchemaNode): string[] {
  const patterns = Object.keys(patternProperties as object).map((one) =>
    one.replace(/^\^(\w+)\\\.\.?$/, '$1.NAME'),
  );
  return [...Object.keys(properties as object), ...patterns];
}

/** Both limits of a number if it has both. */
function numberRange({ type, minimum, maximum }: SchemaNode): string | null {
  const [first, ...others] = [type].flat();
  if (first !== 'integer' && first !== 'number') return null;
  if (minimum === undefined || maximum === undefined) return null;
  const range = `${typeName(first)} from ${minimum} to ${maximum}`;
  return `must be ${[range, ...others.map(typeName)].join(' or ')}`;
}
