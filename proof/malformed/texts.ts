import fc from 'fast-check';

/** JSON as text, possibly invalid: unlike objects, it can contain duplicate names and any number. */

const unusual = [
  '\\u0000',
  'a\\u0000b',
  '\\ud800',
  '\\udfff\\ud800',
  '\\ud83d',
  '\\uD83D\\uDE00',
  '\\u202e',
  '\\ufeff',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__defineGetter__',
  'then',
  '{{name}}',
  '{{__proto__}}',
  '{{{{name}}}}',
  '%00',
  '%s%n',
  "'; drop table agents; --",
  '$1',
  '$&',
  '../../etc/passwd',
  '\\r\\nX-Injected: 1',
  '<script>',
  '\\\\',
  '\\/',
  '',
  ' ',
  '\\u00a0',
  'null',
  'NaN',
  'agt_00000000000000000000000000',
  'exe_7zzzzzzzzzzzzzzzzzzzzzzzzz',
  '2026-11-21',
  '9999-12-31T23:59:59Z',
  '-000001-01-01T00:00:00Z',
  '+275760-09-13',
  '2026-02-30',
  'cueline/echo',
  'cueline/echo?delay=x',
  'a/b',
  '\\uffff',
  '\\u2028',
  '\u00e9',
  '\u{1f600}',
];
const invalid = ['\\x', '\\u12', '\t', '\u0001', '\\', '\\ud8'];

const stringContent = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...unusual) },
  {
    weight: 2,
    arbitrary: fc.string({ maxLength: 20 }).map((text) => JSON.stringify(text).slice(1, -1)),
  },
  { weight: 1, arbitrary: fc.constantFrom(...invalid) },
  { weight: 1, arbitrary: fc.integer({ min: 50, max: 30_000 }).map((n) => 'x'.repeat(n)) },
);
const quoted = stringContent.map((text) => `"${text}"`);

const number = fc.constantFrom(
  '0',
  '-0',
  '1',
  '-1',
  '5',
  '1.5',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  '2147483648',
  '9223372036854775808',
  '1'.repeat(400),
  '0.1e1',
  '1E5',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  'NaN',
  'Infinity',
);
const literal = fc.constantFrom('true', 'false', 'null', 'nul', 'undefined', 'TRUE');

const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 4, arbitrary: quoted },
    { weight: 3, arbitrary: number },
    { weight: 2, arbitrary: literal },
    { weight: 1, arbitrary: tie('array') },
    { weight: 2, arbitrary: tie('object') },
  ),
  array: fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  object: fc
    .array(fc.tuple(quoted, tie('value')), { maxLength: 4 })
    .map((members) => `{${members.map((member) => member.join(':')).join(',')}}`),
}));
/** Any JSON value, usually valid. */
export const anything = value;

/** The parts of a TypeBox schema that determine the values. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** Values that nearly match a schema: parts may have another type, fields may be missing, duplicate or unknown. */
export function nearly(schema: Schema): fc.Arbitrary<string> {
  return fc.oneof({ weight: 6, arbitrary: fitting(schema) }, { weight: 1, arbitrary: anything });
}

function fitting(schema: Schema): fc.Arbitrary<string> {
  const { anyOf, properties, items } = schema;
  if (schema.enum) return fc.constantFrom(...schema.enum.map((one) => JSON.stringify(one)));
  if (anyOf) return fc.oneof(...anyOf.map(nearly));
  if (properties) return object(properties, schema.required ?? []);
  const types = [schema.type ?? 'string'].flat();
  return fc.oneof(...types.map((type) => plain(type, schema, items)));
}

function plain(type: string, schema: Schema, items: Schema | undefined): fc.Arbitrary<string> {
  switch (type) {
    case 'array':
      return fc
        .array(items ? nearly(items) : anything, { maxLength: 5 })
        .map((all) => `[${all.join(',')}]`);
    case 'object':
      return fc
        .array(fc.tuple(quoted, anything), { maxLength: 5 })
        .map((all) => `{${all.map((one) => one.join(':')).join(',')}}`);
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 10 } = schema;
      return fc.constantFrom(...[minimum, maximum, minimum - 1, maximum + 1, 1].map(String));
    }
    case 'boolean':
    case 'null':
      return fc.constantFrom(...(type === 'null' ? ['null'] : ['true', 'false']));
    default: {
      const { examples = [], maxLength = 100 } = schema;
      const long = fc
        .constantFrom(maxLength, maxLength + 1)
        .map((n) => `"${'a'.repeat(Math.min(n, 300_000))}"`);
      const known = [...examples.map((one) => JSON.stringify(one)), '"x"', '"Hello {{name}}"'];
      return fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...known) },
        { weight: 3, arbitrary: quoted },
        { weight: 1, arbitrary: long },
      );
    }
  }
}

function object(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[],
): fc.Arbitrary<string> {
  const fields = Object.entries(properties).map(([name, schema]) => {
    // The service resolves names, so only these addresses are allowed.
    const inner =
      name === 'baseURL'
        ? fc.constantFrom('"https://127.0.0.1/v1"', '"http://[::1]:1"', '"x"')
        : nearly(schema);
    const chance = required.includes(name) ? 20 : 2;
    const there = inner.map((text) => `${JSON.stringify(name)}:${text}`);
    return fc.oneof(
      { weight: chance, arbitrary: there },
      { weight: 1, arbitrary: fc.constant('') },
    );
  });
  const extra = fc.oneof(
    { weight: 9, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.tuple(quoted, anything).map((member) => member.join(':')) },
    {
      weight: 1,
      arbitrary: fc.constant('"__proto__":{"description":"polluted","name":"polluted"}'),
    },
  );
  return fc.tuple(...fields, extra).map((all) => `{${all.filter((one) => one !== '').join(',')}}`);
}
