import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { legacy, modern } from '../../../../harness/mcp.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

/** Names of what a caller does not see are unknown names; identifiers keep the order of checks. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const own = await addAgent(service, { slug: 'own', visibility: 'public' });
const other = await addAgent(service, { slug: 'other-public', visibility: 'public' });
const hidden = await addAgent(service, { slug: 'secret-private', visibility: 'private' });
const workflow = await makeWorkflow(service, greeting(other.agentId), { slug: 'secret-flow' });
const restricted = await service.key({ agentIds: [own.agentId], permissions: ['execute'] });
const member = await service.key({
  ...{ userId: await service.member('editor'), permissions: ['execute'] },
});
const spent = await service.key({
  ...{ agentIds: [own.agentId], permissions: ['execute'], rateLimits: { requestsPerDay: 0 } },
});
const revoked = await service.key({ agentIds: [own.agentId], revokedAt: new Date(0) });
const reader = await service.key({ agentIds: [own.agentId], permissions: ['read'] });

/** The callers, each with the names of what exists and what they do not see. */
const unseen: [string, string[]][] = [
  [restricted.key, ['other-public', 'secret-private', 'secret-flow']],
  [spent.key, ['other-public', 'secret-private', 'secret-flow']],
  [revoked.key, ['other-public', 'secret-private', 'secret-flow']],
  [reader.key, ['other-public', 'secret-private', 'secret-flow']],
  [member.key, ['secret-private']],
];

/** Every way to address something by its name. */
const ways: Record<string, (name: string, given: string) => Promise<Answer>> = {
  'POST /v1/responses': (model, given) =>
    openai('POST', '/v1/responses', given, { model, input: 'x' }),
  'a prompt of POST /v1/responses': (id, given) =>
    openai('POST', '/v1/responses', given, { prompt: { id, version: 'v1' }, input: 'x' }),
  'a malformed POST /v1/responses': (model, given) =>
    openai('POST', '/v1/responses', given, { model, input: 5 }),
  'POST /v1/chat/completions': (model, given) =>
    openai('POST', '/v1/chat/completions', given, {
      model,
      messages: [{ role: 'user', content: 'x' }],
    }),
  'GET /v1/models/{model}': (name, given) => openai('GET', `/v1/models/${name}`, given),
  'tools/call': (name, given) =>
    modern(service, 'tools/call', { name, arguments: {} }, { key: given }),
  'tools/call with a handshake': (name, given) =>
    legacy(service, 'tools/call', { name, arguments: {} }, { key: given }),
  '/mcp/{slug}': (name, given) =>
    modern(service, 'tools/call', { name, arguments: {} }, { key: given, path: `/mcp/${name}` }),
  'tools/list of /mcp/{slug}': (name, given) =>
    modern(service, 'tools/list', {}, { key: given, path: `/mcp/${name}` }),
};

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

function openai(method: string, path: string, given: string, body?: object): Promise<Answer> {
  const headers = { 'idempotency-key': 'one', origin: 'https://shop.example' };
  return service.call(method, path, { key: given, ...(body && { body }), headers });
}

test('what a caller does not see answers by its name like what does not exist', async () => {
  for (const [given, names] of unseen) {
    for (const [way, send] of Object.entries(ways)) {
      const expected = shape(await send('nothing-here', given), 'nothing-here');
      for (const name of names) {
        assert.deepEqual(shape(await send(name, given), name), expected, `${way}: ${name}`);
      }
    }
  }
});

test('no record or count tells that it was called', async () => {
  for (const table of ['executions', 'refusals', 'statistics']) {
    const { rows } = await sql`
      select from ${sql.table(table)} where agent_id = any (${[other.id, hidden.id]}::uuid[])`.execute(
      service.db,
    );
    assert.equal(rows.length, 0, table);
  }
});

test('by its identifier, it answers in the order of execute and leaves a record', async () => {
  const model = other.agentId;
  const { status } = await openai('POST', '/v1/responses', restricted.key, { model, input: 'x' });
  assert.equal(status, 401);
  const { body } = await modern(
    ...([service, 'tools/call', { name: workflow.workflowId, arguments: {} }] as const),
    { key: restricted.key },
  );
  assert.equal(body.result._meta.code, 'UNAUTHORIZED');
  const { rows } = await sql<{ code: string }>`
    select error_code as code from executions where agent_id = ${other.id}`.execute(service.db);
  assert.deepEqual(rows, [{ code: 'KEY_NOT_AUTHORIZED' }]);
});

test('who sees it is answered by its name', async () => {
  const called = await openai('POST', '/v1/responses', key, {
    model: 'secret-private',
    input: 'x',
  });
  assert.equal(called.status, 200);
  const { body } = await modern(
    ...([service, 'tools/call', { name: 'secret-flow', arguments: { name: 'Ada' } }] as const),
    { key },
  );
  assert.ok(body.result._meta.workflowRunId);
});

/** What may not differ: everything but the name, the id of the request, and times. */
function shape({ status, headers, body }: Answer, name: string) {
  const text = JSON.stringify(body ?? null)
    .replaceAll(name, 'NAME')
    .replace(/"requestId":"[^"]*"/g, '')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/"retryAfter":\d+|in \d+ seconds?/g, '');
  const named = [...headers.keys()].filter((one) => !['date', 'content-length'].includes(one));
  const origin = headers.get('access-control-allow-origin');
  const challenge = headers.get('www-authenticate')?.replaceAll(name, 'NAME');
  return { status, text, named, origin, challenge };
}
