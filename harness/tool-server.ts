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
  [{ type: 'object', properties: { a: { pattern: '(' } } }, '/properties/a/pattern'],
  [{ type: 'object', patternProperties: { '[a': {} } }, '/patternProperties/[a'],
  [{ type: 'object', properties: { a: { $ref: '#/$defs/b' } } }, '/properties/a/$ref'],
  [{ type: 'object', required: 'a' }, '/required'],
  [{ type: 'object', properties: [] }, '/properties'],
  [
    { type: 'object', $defs: { a: { items: { anyOf: [{ minimum: '1' }] } } } },
    '/$defs/a/items/anyOf/0/minimum',
  ],
];

let servers = 0;

/** Of a service whose configuration is `toReceivers`. */
export async function addToolServer(service: Service, fields: object) {
  const { key } = await service.key();
  const body = { name: `crm-${++servers}`, kind: 'http', tools: [refundTool], ...fields };
  const created = await service.call('POST', '/api/v1/tool-servers', { key, body });
  if (created.status !== 201) throw new Error(created.body.message);
  return { ...created.body, path: `/api/v1/tool-servers/${created.body.toolServerId}`, key };
}
