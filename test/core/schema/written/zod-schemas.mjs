/**
 * Prints the JSON schemas that Zod writes for its types, each once with the versions that write it. Writes `zod.jsonl`, if each of these
 * folders has a version of the package: `node zod-schemas.mjs FOLDER… > zod.jsonl`
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const formats = [
  ...[
    'email',
    'url',
    'httpUrl',
    'hostname',
    'uuid',
    'uuidv4',
    'uuidv6',
    'uuidv7',
    'guid',
    'emoji',
    'nanoid',
  ],
  ...[
    'cuid',
    'cuid2',
    'ulid',
    'xid',
    'ksuid',
    'ipv4',
    'ipv6',
    'mac',
    'cidrv4',
    'cidrv6',
    'base64',
    'base64url',
  ],
  ...[
    'e164',
    'jwt',
    'hex',
    'stringbool',
    'json',
    'any',
    'unknown',
    'never',
    'null',
    'boolean',
    'string',
  ],
  ...['number', 'int', 'int32', 'uint32', 'float32', 'float64', 'nan', 'file', 'undefined', 'void'],
];
const iso = ['date', 'time', 'datetime', 'duration'];

const typesOf = (z) => ({
  ...Object.fromEntries(formats.map((name) => [name, () => z[name]()])),
  ...Object.fromEntries(iso.map((name) => [`iso.${name}`, () => z.iso[name]()])),
  'iso.datetime offset': () => z.iso.datetime({ offset: true, local: true, precision: 3 }),
  'iso.time precision': () => z.iso.time({ precision: 0 }),
  'email html5': () => z.email({ pattern: z.regexes.html5Email }),
  'email rfc5322': () => z.email({ pattern: z.regexes.rfc5322Email }),
  'email unicode': () => z.email({ pattern: z.regexes.unicodeEmail }),
  'email and regex': () => z.email().regex(/^a/),
  'hash sha256': () => z.hash('sha256'),
  'string sizes': () => z.string().min(1).max(9),
  'string length': () => z.string().length(3),
  'string regex': () => z.string().regex(/^[a-z]+$/),
  'string two regexes': () => z.string().regex(/^a/).regex(/b$/),
  'string parts': () => z.string().startsWith('a').endsWith('z').includes('m'),
  'string case': () => z.string().lowercase().trim(),
  'string uppercase': () => z.string().uppercase(),
  'number bounds': () => z.number().gt(0).lte(9).multipleOf(0.5),
  'int bounds': () => z.int().nonnegative(),
  literal: () => z.literal('a'),
  literals: () => z.literal(['a', 2, true, null]),
  enum: () => z.enum(['a', 'b']),
  nativeEnum: () => z.enum({ A: 'a', B: 1 }),
  templateLiteral: () => z.templateLiteral(['v', z.int(), '-', z.enum(['a', 'b'])]),
  'templateLiteral email': () => z.templateLiteral(['to:', z.email()]),
  object: () => z.object({ a: z.string(), b: z.number().optional() }),
  strictObject: () => z.strictObject({ a: z.string() }),
  looseObject: () => z.looseObject({ a: z.string() }),
  catchall: () => z.object({ a: z.string() }).catchall(z.number()),
  extend: () => z.object({ a: z.string() }).extend({ b: z.int() }).partial(),
  array: () => z.array(z.string()).min(1).max(3),
  nonempty: () => z.array(z.email()).nonempty(),
  tuple: () => z.tuple([z.string(), z.number()]),
  'tuple rest': () => z.tuple([z.string()], z.boolean()),
  record: () => z.record(z.string(), z.number()),
  'record enum': () => z.record(z.enum(['a', 'b']), z.number()),
  'record email': () => z.record(z.email(), z.number()),
  'record number': () => z.record(z.number(), z.string()),
  partialRecord: () => z.partialRecord(z.enum(['a', 'b']), z.number()),
  looseRecord: () => z.looseRecord(z.string().regex(/^x-/), z.number()),
  union: () => z.union([z.string(), z.number()]),
  xor: () => z.xor([z.string(), z.number()]),
  discriminatedUnion: () =>
    z.discriminatedUnion('k', [
      z.object({ k: z.literal('a'), v: z.int() }),
      z.object({ k: z.literal('b'), v: z.url() }),
    ]),
  intersection: () => z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() })),
  nullable: () => z.email().nullable(),
  optional: () => z.object({ a: z.uuid().optional(), b: z.string().nullish() }),
  default: () => z.object({ a: z.string().default('x') }),
  prefault: () => z.object({ a: z.string().prefault('x') }),
  catch: () => z.object({ a: z.number().catch(1) }),
  nonoptional: () => z.object({ a: z.nonoptional(z.string().optional()) }),
  readonly: () => z.object({ a: z.string() }).readonly(),
  brand: () => z.string().brand('b'),
  pipe: () => z.pipe(z.string(), z.string().min(2)),
  transform: () => z.string().transform((text) => text.length),
  preprocess: () => z.preprocess((value) => value, z.int()),
  refine: () => z.string().refine((text) => text !== ''),
  coerce: () => z.coerce.number(),
  codec: () =>
    z.codec(z.iso.datetime(), z.date(), {
      decode: (t) => new Date(t),
      encode: (d) => d.toISOString(),
    }),
  lazy: () => z.lazy(() => z.string()),
  recursive: () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node);
      },
    });
    return node;
  },
  promise: () => z.promise(z.string()),
  date: () => z.date(),
  bigint: () => z.bigint(),
  map: () => z.map(z.string(), z.int()),
  set: () => z.set(z.string()),
  custom: () => z.custom(() => true),
  instanceof: () => z.instanceof(Date),
  function: () => z.function(),
  symbol: () => z.symbol(),
  keyof: () => z.keyof(z.object({ a: z.string(), b: z.string() })),
  described: () =>
    z
      .email()
      .describe('An address.')
      .meta({ title: 'Email', examples: ['a@b.c'] }),
  'meta id': () =>
    z.object({ a: z.email().meta({ id: 'Address' }), b: z.email().meta({ id: 'Address2' }) }),
});

const written = new Map();
for (const folder of process.argv.slice(2)) {
  const { z } = await import(pathToFileURL(`${folder}/node_modules/zod/index.js`).href);
  const { version } = JSON.parse(readFileSync(`${folder}/node_modules/zod/package.json`, 'utf8'));
  for (const [type, make] of Object.entries(typesOf(z))) {
    for (const target of ['draft-2020-12', 'draft-7']) {
      for (const io of ['output', 'input']) {
        const schema = schemaOf(z, make, { target, io, unrepresentable: 'any' });
        const text = JSON.stringify({ type, schema });
        if (schema) written.set(text, [...new Set([...(written.get(text) ?? []), version])]);
      }
    }
  }
}
for (const [text, versions] of written) {
  process.stdout.write(`${JSON.stringify({ versions, ...JSON.parse(text) })}\n`);
}

/** Null if this version does not have the type. */
function schemaOf(z, make, options) {
  try {
    return z.toJSONSchema(make(), options);
  } catch {
    return null;
  }
}
