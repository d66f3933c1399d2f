import type { Service } from './service.ts';

/** Tool servers that are declared through the API. */

export const refundTool = {
  name: 'refund',
  description: 'Pays an order back.',
  inputSchema: {
    type: 'object',
    properties: { orderId: { type: 'string' }, cents: { type: 'integer' } },
    required: ['orderId'],
  },
};

/** Schemas that are none, at some depth, and the place that the message names. */
export const invalidSchemas: readonly (readonly [schema: object, place: string])[] = [
  [{ type: 'object', properties: { a: { type: 'strng' } } }, '/properties/a/type'],
  [{ type: 'object', properties: { a: { $ref: '#/$defs/b' } } }, '/properties/a/$ref'],
  [
    { type: 'object', $defs: { a: { $anchor: 'a' } }, items: { items: { $ref: '#b' } } },
    '/items/items/$ref',
  ],
  [{ type: 'object', dependencies: { a: { $ref: '#/a~1b' } } }, '/dependencies/a/$ref'],
  [{ type: 'object', required: 'a' }, '/required'],
  [{ type: 'object', properties: [] }, '/properties'],
  [
    { type: 'object', $defs: { a: { items: { anyOf: [{ minimum: '1' }] } } } },
    '/$defs/a/items/anyOf/0/minimum',
  ],
];

const draft = (name: string) => `http://json-schema.org/draft-${name}/schema#`;
const names = Array.from({ length: 1_100 }, (_, n) => `p${n}`);
const nested = (levels: number): object => (levels === 0 ? {} : { items: nested(levels - 1) });

/** Schemas that Cueline could not compile, but models may understand. */
export const uncompiledSchemas: readonly object[] = [
  { properties: { a: { pattern: '(?>a)b' } }, patternProperties: { '(': {} } },
  { properties: Object.fromEntries(names.map((name) => [name, true])), required: names },
  nested(100),
  { $schema: draft('04'), id: '#a', properties: { a: { minimum: 1, exclusiveMinimum: true } } },
  { $schema: 'https://a.example/own', required: true, items: { $ref: '#/nowhere' } },
  { properties: { a: { $ref: 'https://a.example/b.json#/c' }, b: { $ref: 'c.json' } } },
  { anyOf: [{ $id: 'https://a.example/b', not: { $ref: '#/c' } }] },
  { $dynamicAnchor: 'a', items: { $dynamicRef: '#a' }, not: { $ref: '#a' } },
  {
    $schema: draft('07'),
    definitions: { a: { $id: '#a' } },
    items: [{ $ref: '#a' }, { $ref: '#' }],
  },
  { $defs: { 'a/b~%': { anyOf: [true] } }, items: { $ref: '#/$defs/a~1b~0%25/anyOf/0' } },
  { default: { $ref: '#/nowhere' }, items: { const: { not: { $ref: '#/nowhere' } } } },
].map((schema) => ({ type: 'object', ...schema }));

let servers = 0;

/** Of a service whose configuration is `toReceivers`. */
export async function addToolServer(service: Service, fields: object) {
  const { key } = await service.key();
  const body = { name: `crm-${++servers}`, kind: 'http', tools: [refundTool], ...fields };
  const created = await service.call('POST', '/api/v1/tool-servers', { key, body });
  if (created.status !== 201) throw new Error(created.body.message);
  return { ...created.body, path: `/api/v1/tool-servers/${created.body.toolServerId}`, key };
}
