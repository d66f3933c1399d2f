/** Schemas of the document as readers want them: a flat list of fields, and an example. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

export interface Field {
  /** With the way to it: `agentConfig.model`, `agents[].tags`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  /** What is allowed, in words. */
  readonly bounds: readonly string[];
}

export type Schemas = Readonly<Record<string, Schema>>;

/** Follows a reference, and leaves `null` aside: what is under a name or in its place. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  if (schema.$ref) {
    const { $ref, ...beside } = schema;
    return { ...resolve(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, schemas), ...beside };
  }
  const main = schema.anyOf?.find((one) => one.type !== 'null');
  return main ? { ...resolve(main, schemas), ...described(schema) } : schema;
}

/** Every field of an object, those of inner objects after the one that holds them. */
export function fieldsOf(schema: Schema, schemas: Schemas, path = ''): Field[] {
  const { properties = {}, required = [] } = resolve(schema, schemas);
  return Object.entries(properties).flatMap(([name, property]) => {
    const inner = resolve(property, schemas);
    const items = inner.items && resolve(inner.items, schemas);
    const field = {
      name: path + name,
      type: typeOf(property, schemas),
      required: required.includes(name),
      description: inner.description ?? '',
      bounds: boundsOf(inner, items),
    };
    const deeper = items?.properties ? `${path}${name}[].` : `${path}${name}.`;
    return [field, ...fieldsOf(items?.properties ? items : inner, schemas, deeper)];
  });
}

export function typeOf(schema: Schema, schemas: Schemas): string {
  const inner = resolve(schema, schemas);
  const nullable = schema.anyOf?.some((one) => one.type === 'null') ? ['null'] : [];
  const names = [inner.type ?? 'any'].flat().concat(nullable);
  return names
    .map((name) =>
      name === 'array' && inner.items ? `array of ${typeOf(inner.items, schemas)}` : name,
    )
    .join(' or ');
}

/** What is allowed, in words; of an array also what its items may be. */
export function boundsOf(schema: Schema, items?: Schema): string[] {
  const { minimum, maximum, minLength = 0, maxLength, minItems = 0, maxItems } = schema;
  const values = schema.enum ?? items?.enum ?? (schema.const === undefined ? [] : [schema.const]);
  return [
    ...(values.length > 0 ? [values.map((value) => `\`${value}\``).join(' ')] : []),
    ...range(minimum, maximum),
    ...(maxLength === undefined ? [] : [span(minLength, maxLength, 'characters')]),
    ...(maxItems === undefined ? [] : [span(minItems, maxItems, 'items')]),
    ...(schema.maxProperties === undefined ? [] : [span(0, schema.maxProperties, 'names')]),
    ...(schema.default === undefined ? [] : [`default \`${schema.default}\``]),
  ];
}

/** A value that fits: the schema's own example where it has one. `sparse` leaves out what is optional. */
export function sample(schema: Schema, schemas: Schemas, sparse = false): unknown {
  const inner = resolve(schema, schemas);
  if (inner.examples && inner.examples.length > 0) return inner.examples[0];
  if (inner.const !== undefined) return inner.const;
  if (inner.enum) return inner.enum[0];
  if (inner.default !== undefined) return inner.default;
  switch ([inner.type].flat()[0]) {
    case 'object':
      return sampleObject(inner, schemas, sparse);
    case 'array':
      return inner.items ? [sample(inner.items, schemas, sparse)] : [];
    case 'integer':
    case 'number':
      return Math.max(1, inner.minimum ?? 1);
    case 'boolean':
      return true;
    default:
      return '…';
  }
}

function sampleObject(schema: Schema, schemas: Schemas, sparse: boolean): unknown {
  const all = Object.entries(schema.properties ?? {});
  const needed = all.filter(([name]) => schema.required?.includes(name));
  const shown = sparse ? (needed.length > 0 ? needed : all.slice(0, 1)) : all;
  return Object.fromEntries(shown.map(([name, one]) => [name, sample(one, schemas, sparse)]));
}

function described({ description }: Schema): Schema {
  return description === undefined ? {} : { description };
}

function range(minimum: number | undefined, maximum: number | undefined): string[] {
  if (minimum !== undefined && maximum !== undefined)
    return [`${count(minimum)} – ${count(maximum)}`];
  if (minimum !== undefined && minimum !== 0) return [`at least ${count(minimum)}`];
  return maximum === undefined ? [] : [`at most ${count(maximum)}`];
}

function span(least: number, most: number, unit: string): string {
  return least > 0 ? `${count(least)} – ${count(most)} ${unit}` : `at most ${count(most)} ${unit}`;
}

function count(n: number): string {
  return n.toLocaleString('en-US');
}
