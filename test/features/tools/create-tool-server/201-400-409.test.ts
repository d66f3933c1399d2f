import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import {
  addToolServer,
  invalidSchemas,
  refundTool,
  uncompiledSchemas,
} from '../../../../harness/tool-server.ts';
import { canonical } from '../../../../src/core/json.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const { key } = await service.key();
const create = (body: object) => service.call('POST', '/api/v1/tool-servers', { key, body });
const valid = { name: 'crm', kind: 'http', url: 'https://crm.example.com/tools' };

test('a server is created with a secret that no later response shows', async () => {
  const headers = { Authorization: 'Bearer s3cr3t-token', 'X-Team': 'billing' };
  const body = {
    ...valid,
    url: receiver.url,
    headers,
    tools: [{ ...refundTool, path: '/refunds' }],
  };
  const created = await create(body);
  assert.equal(created.status, 201);
  const { signingSecret, ...server } = created.body;
  assert.match(signingSecret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(created.headers.get('etag'), '"1"');
  assert.equal(created.headers.get('location'), `/api/v1/tool-servers/${server.toolServerId}`);
  const { toolServerId, tools, createdAt, updatedAt, createdBy, ...fields } = server;
  assert.match(toolServerId, /^tsv_/);
  assert.ok(createdAt && updatedAt && createdBy);
  assert.deepEqual(fields, {
    ...{ name: 'crm', kind: 'http', url: receiver.url, headerNames: ['Authorization', 'X-Team'] },
    ...{ timeoutMs: 30_000, maxConcurrency: 20, enabled: true, checkedAt: null, problem: null },
  });
  const digest = createHash('sha256')
    .update(canonical(JSON.stringify(refundTool)))
    .digest('hex');
  assert.deepEqual(tools, [{ ...refundTool, path: '/refunds', digest, state: 'current' }]);
  const path = `/api/v1/tool-servers/${toolServerId}`;
  const read = await service.call('GET', path, { key });
  assert.deepEqual([read.body, read.headers.get('etag')], [server, '"1"']);
  const { body: list } = await service.call('GET', '/api/v1/tool-servers', { key });
  const { tools: _, ...summary } = server;
  assert.deepEqual(list, { toolServers: [{ ...summary, toolNames: ['refund'] }] });
  // Neither a response nor the database has the secrets in clear.
  const { rows } = await sql<{ row: string }>`
    select row_to_json(s)::text as row from tool_servers s union all
    select row_to_json(a)::text from audit a`.execute(service.db);
  const everything = JSON.stringify([rows, server, list]);
  assert.ok(!everything.includes('s3cr3t-token') && !everything.includes(signingSecret));
});

test('names are unique within the workspace', async () => {
  const { name } = await addToolServer(service, { url: receiver.url });
  const again = await create({ ...valid, name });
  assert.deepEqual([again.status, again.body.code], [409, 'CONFLICT']);
  const other = await service.workspace();
  const { key: elsewhere } = await service.key({
    workspaceId: other.workspaceId,
    userId: other.ownerId,
  });
  const created = await service.call('POST', '/api/v1/tool-servers', {
    ...{ key: elsewhere, body: { ...valid, name } },
  });
  assert.equal(created.status, 201);
});

test('a workspace has at most 50', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  const { key: own } = await service.key({ workspaceId, userId: ownerId });
  await sql`
    insert into tool_servers (id, workspace_id, name, kind, url, sealed_secret, timeout_ms, max_concurrency)
    select gen_random_uuid(), ${workspaceId}, 's-' || n, 'http', 'https://a.example.com', '', 1000, 1
    from generate_series(1, 50) n`.execute(service.db);
  const created = await service.call('POST', '/api/v1/tool-servers', { key: own, body: valid });
  assert.equal(created.status, 409);
  assert.match(created.body.message, /at most 50/);
});

describe('400 names the place that makes a schema invalid', () => {
  for (const [inputSchema, place] of invalidSchemas) {
    test(place, async () => {
      const refused = await create({
        ...valid,
        tools: [refundTool, { ...refundTool, inputSchema }],
      });
      assert.equal(refused.status, 400);
      const expected = `Field "tools.1.inputSchema" is not a valid JSON schema at ${place}: `;
      assert.ok(refused.body.message.startsWith(expected), refused.body.message);
    });
  }
});

test('objects as Zod and Pydantic write them are accepted', async () => {
  for (const name of ['zod', 'pydantic']) {
    const file = new URL(`../../../core/schema/written/${name}.jsonl`, import.meta.url);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const schemas = lines.map((line) => JSON.parse(line).schema);
    const tools = schemas
      .filter(({ type }) => type === 'object')
      .map((inputSchema, n) => ({ name: `tool-${n}`, description: '', inputSchema }));
    assert.ok(tools.length > 0);
    const created = await create({ ...valid, name, tools: tools.slice(0, 100) });
    assert.equal(created.status, 201, created.body.message);
  }
});

test('what only models need to understand is accepted, and stays as it was sent', async () => {
  const tools = uncompiledSchemas.map((inputSchema, n) => ({
    ...{ name: `tool-${n}`, description: '', inputSchema },
  }));
  const created = await create({ ...valid, name: 'uncompiled', tools });
  assert.equal(created.status, 201, created.body.message);
  const shown = created.body.tools.map(({ inputSchema }: { inputSchema: object }) => inputSchema);
  assert.deepEqual(shown, uncompiledSchemas);
});

describe('400 names what is wrong', () => {
  const tool = (fields: object) => ({ tools: [{ ...refundTool, ...fields }] });
  const cases: [string, object, RegExp][] = [
    ['a kind to come', { kind: 'mcp' }, /"kind": "mcp" is not supported yet/],
    [
      'another one',
      { kind: 'callback', url: undefined },
      /"kind": "callback" is not supported yet/,
    ],
    ['an unknown kind', { kind: 'stdio' }, /"kind"/],
    ['no URL', { url: undefined }, /"url" is missing/],
    ['a private address', { url: 'https://10.0.0.1/' }, /"url".*public address/],
    ['the same in other words', { url: 'https://0x0a.1/' }, /"url".*public address/],
    ['plain http', { url: 'http://crm.example.com/' }, /"url".*https/],
    ['a user in the URL', { url: 'https://a:b@crm.example.com/' }, /"url".*no user name/],
    ['a query', { url: 'https://crm.example.com/?key=1' }, /^Field "url": [^"]*no query[^"]*$/],
    ['a fragment', { url: 'https://crm.example.com/#a' }, /^Field "url": [^"]*no fragment[^"]*$/],
    ['a name with blanks', { name: 'my crm' }, /"name"/],
    ['a header of the body', { headers: { 'Content-Type': 'text/plain' } }, /headers.Content-Type/],
    ['a header of the signature', { headers: { 'Webhook-Id': 'x' } }, /headers.Webhook-Id/],
    ['a header of the call', { headers: { 'cueline-tool': 'x' } }, /headers.cueline-tool/],
    ['a key of the call', { headers: { 'Idempotency-Key': 'x' } }, /headers.Idempotency-Key/],
    ['a line break in a header', { headers: { a: 'x\r\nb: y' } }, /headers.a/],
    ['a timeout', { timeoutMs: 999 }, /"timeoutMs"/],
    ['too many at once', { maxConcurrency: 201 }, /"maxConcurrency"/],
    ['a path above', tool({ path: '/../admin' }), /tools.0.path/],
    ['a path above in other words', tool({ path: '/%2e%2e/admin' }), /tools.0.path/],
    ['a path without a slash', tool({ path: '.evil.example/x' }), /tools.0.path/],
    ['a path that begins a user', tool({ path: '@evil.example/x' }), /tools.0.path/],
    ['a path with a backslash', tool({ path: '\\evil.example' }), /tools.0.path/],
    ['a path with a query', tool({ path: '/a?b=1' }), /tools.0.path/],
    ['a path with a fragment', tool({ path: '/a#b' }), /tools.0.path/],
    ['a path with a blank', tool({ path: '/a b' }), /tools.0.path/],
    ['no object', tool({ inputSchema: { type: 'string' } }), /tools.0.inputSchema/],
    ['a tool name', tool({ name: 'a b' }), /tools.0.name/],
    ['one name twice', { tools: [refundTool, refundTool] }, /"refund" twice/],
    [
      'long schemas',
      tool({ inputSchema: { type: 'object', title: 'x'.repeat(262_144) } }),
      /262144/,
    ],
    ['an unknown field', { secret: 'x' }, /"secret"/],
  ];
  for (const [what, fields, message] of cases) {
    test(what, async () => {
      const refused = await create({ ...valid, name: 'bad', ...fields });
      assert.equal(refused.status, 400);
      assert.match(refused.body.message, message);
    });
  }
});
