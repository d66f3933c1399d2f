import { isObject } from '../is-object.ts';

/** The JSON schemas with which an agent or a workflow is described as a tool. */

export type ToolSchema = Readonly<Record<string, unknown>> & { readonly type: 'object' };

/** The names that a call may supply, with what is known of their values. */
export interface ToolInput {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
  /** By name; a name without a schema takes text. */
  readonly schemas: Readonly<Record<string, unknown>>;
  /** Names whose values are lists of messages. */
  readonly messageLists: readonly string[];
}

/** The schema of the arguments: a property for each name, in the order of the declaration. */
export function inputSchemaOf(input: ToolInput): ToolSchema {
  const { required, optional, defaults } = input;
  const names = [...new Set([...required, ...optional, ...Object.keys(defaults)])];
  const properties = names.map((name) => [name, propertyOf(name, input)] as const);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required: [...new Set(required)] }),
    additionalProperties: false,
  };
}

function propertyOf(name: string, { schemas, defaults, messageLists }: ToolInput) {
  const given = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
  const schema = given === undefined ? untyped(messageLists.includes(name)) : nested(given, name);
  const value = Object.hasOwn(defaults, name) ? (defaults[name] ?? null) : null;
  return value === null ? schema : { ...schema, default: value };
}

/** Any JSON is accepted; a model writes text. */
function untyped(isMessageList: boolean): Json {
  if (!isMessageList) return { type: 'string' };
  const message = {
    type: 'object',
    properties: { role: { type: 'string' }, content: {} },
    required: ['role', 'content'],
  };
  return { type: 'array', items: message, description: 'The messages of the conversation so far.' };
}

/** The schema as a property: its references to its own root then lead to the property. */
function nested(schema: unknown, name: string): Json {
  // Clients expect an object. `false` accepts nothing.
  if (!isObject(schema)) return schema === false ? { not: {} } : {};
  const { $schema: _, ...own } = schema;
  return withRoot(own, `#/properties/${pointer(name)}`);
}

/**
 * The schema without `$schema`, where it means the same: many clients know only one dialect, and reject the name of another.
 * Only lists of draft 7 mean something else in 2020-12.
 */
export function withoutDialect(schema: Json): Json {
  const { $schema, ...rest } = schema;
  const isOld = typeof $schema === 'string' && $schema.includes('draft-07');
  return isOld && /"(?:items":\[|additionalItems":)/.test(JSON.stringify(rest)) ? schema : rest;
}

/** Keywords whose values are data, and those whose values are schemas by name. */
const dataKeywords = ['const', 'default', 'enum', 'examples'];
const mapKeywords = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];

type Json = Readonly<Record<string, unknown>>;

function withRoot(schema: Json, root: string): Json {
  return mapValues(schema, (value, keyword) => {
    if (keyword === '$ref' && typeof value === 'string') return rooted(value, root);
    if (dataKeywords.includes(keyword)) return value;
    if (!mapKeywords.includes(keyword) || !isObject(value)) return inside(value, root);
    return mapValues(value, (one) => inside(one, root));
  });
}

function mapValues(object: Json, map: (value: unknown, name: string) => unknown): Json {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, map(value, name)]),
  );
}

function inside(value: unknown, root: string): unknown {
  if (Array.isArray(value)) return value.map((each) => inside(each, root));
  return isObject(value) ? withRoot(value, root) : value;
}

/** A reference to an anchor needs no change. */
function rooted(reference: string, root: string): string {
  if (reference === '#') return root;
  return reference.startsWith('#/') ? root + reference.slice(1) : reference;
}

function pointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
