import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { allowedHost, sealKey, startService } from '../../../../harness/service.ts';
import { providerKinds, sealExtrasOwner, sealOwner } from '../../../../src/core/model/provider.ts';
import { unseal } from '../../../../src/core/seal.ts';
import { sql } from '../../../../src/db/sql.ts';
import { findStoredProvider } from '../../../../src/features/providers/statements/providers.ts';

const service = await startService();
after(service.close);
const user = service.ownerId;
const put = (name: string, body: object, options: object = { user }) =>
  service.call('PUT', `/api/v1/providers/${name}`, { ...options, body });

async function stored(name: string, workspaceId = service.workspaceId) {
  const row = await findStoredProvider(service.db, workspaceId, name);
  assert.ok(row);
  const owner = sealOwner({ workspaceId, id: row.id });
  const apiKey = row.sealedApiKey && unseal(sealKey, row.sealedApiKey, owner);
  return { ...row, apiKey };
}

for (const kind of providerKinds) {
  test(`configures a provider of kind ${kind}`, async () => {
    const body = { kind, apiKey: `sk-${kind}`, baseURL: 'https://llm.example.com/v1' };
    const response = await put(`my-${kind}`, body);
    assert.equal(response.status, 200);
    const { createdAt, updatedAt, ...rest } = response.body;
    // The clock is read for each of the two.
    assert.ok(Math.abs(Date.parse(updatedAt) - Date.parse(createdAt)) < 1_000);
    assert.deepEqual(rest, {
      ...{ name: `my-${kind}`, kind, baseURL: body.baseURL, hasApiKey: true },
      ...{ headerNames: [], queryNames: [], bodyExtraNames: [], organization: null, project: null },
      auth: null,
    });
    assert.partialDeepStrictEqual(await stored(`my-${kind}`), body);
  });
}

test('a pasted URL of a call is reduced to its base, and a pasted header to the credential', async () => {
  for (const [kind, baseURL] of [
    ['openai-compatible', 'https://llm.example.com/v1/chat/completions'],
    ['anthropic', 'https://llm.example.com/v1/messages/'],
    ['openai', 'https://llm.example.com/v1//responses'],
    ['openai', 'https://llm.example.com/v1//'],
  ] as const) {
    for (const apiKey of ['Bearer sk-1', 'bearer  sk-1', 'Authorization: Bearer sk-1', 'sk-1']) {
      const response = await put('pasted', { kind, apiKey, baseURL });
      assert.deepEqual(
        [response.status, response.body.baseURL],
        [200, 'https://llm.example.com/v1'],
      );
      const { apiKey: kept, baseURL: base } = await stored('pasted');
      assert.deepEqual([kept, base], ['sk-1', 'https://llm.example.com/v1']);
    }
  }
});

test('the credential is stored encrypted and never returned', async () => {
  const apiKey = 'sk-nobody-may-read-this';
  const response = await put('sealed', { kind: 'openai', apiKey });
  const listed = await service.call('GET', '/api/v1/providers', { user });
  const { rows } = await sql<{ row: string; sealed: Buffer }>`
    select to_jsonb(p)::text as row, sealed_api_key as sealed from providers p
    where name = 'sealed'`.execute(service.db);
  for (const text of [response.body, listed.body, rows[0]?.row]) {
    assert.ok(!JSON.stringify(text).includes(apiKey));
  }
  assert.ok(!rows[0]?.sealed.includes(apiKey));
});

test('headers, query and body fields are stored encrypted; only their names are returned', async () => {
  const extras = {
    headers: { 'X-Gateway-Key': 'hidden-header', 'cf-access': 'hidden-other' },
    query: { 'api-version': '2024-10-21', subscription: 'hidden-query' },
    bodyExtra: { user: 'hidden-body', nested: { list: ['hidden-item'] } },
  };
  const body = { kind: 'openai', apiKey: 'sk-1', ...extras, organization: 'org-1', project: 'p-1' };
  const response = await put('extended', body);
  assert.partialDeepStrictEqual(response.body, {
    headerNames: ['X-Gateway-Key', 'cf-access'],
    queryNames: ['api-version', 'subscription'],
    bodyExtraNames: ['nested', 'user'],
    ...{ organization: 'org-1', project: 'p-1', hasApiKey: true },
  });
  const one = await service.call('GET', '/api/v1/providers/extended', { user });
  const listed = await service.call('GET', '/api/v1/providers', { user });
  const audit = await service.call('GET', '/api/v1/audit', { user });
  const { rows } = await sql<{ row: string; sealed: Buffer }>`
    select to_jsonb(p)::text as row, sealed_extras as sealed from providers p
    where name = 'extended'`.execute(service.db);
  for (const text of [response.body, one.body, listed.body, audit.body, rows[0]?.row]) {
    assert.doesNotMatch(JSON.stringify(text), /hidden/);
  }
  assert.ok(!rows[0]?.sealed.includes('hidden'));
  assert.deepEqual(one.body, response.body);

  const row = await stored('extended');
  const owner = sealExtrasOwner({ workspaceId: service.workspaceId, id: row.id });
  assert.ok(row.sealedExtras);
  assert.deepEqual(JSON.parse(unseal(sealKey, row.sealedExtras, owner)), extras);

  const replaced = await put('extended', { kind: 'openai', apiKey: 'sk-1' });
  assert.deepEqual(replaced.body.headerNames, []);
  assert.equal((await stored('extended')).sealedExtras, null);
});

test('without an API key, a header may carry the credential', async () => {
  const headers = { authorization: 'Basic dXNlcjpwYXNz' };
  assert.equal((await put('basic', { kind: 'openai', headers })).status, 200);
  const both = { kind: 'anthropic', apiKey: 'sk-1', headers };
  assert.equal((await put('both', both)).status, 200);
});

test('a put replaces the whole provider, credential included', async () => {
  const first = await put('changed', {
    ...{ kind: 'azure', apiKey: 'sk-1', baseURL: 'https://a.example.com' },
  });
  const second = await put('changed', { kind: 'openai' });
  assert.partialDeepStrictEqual(second.body, {
    ...{ kind: 'openai', baseURL: null, hasApiKey: false, createdAt: first.body.createdAt },
  });
  assert.ok(second.body.updatedAt >= first.body.updatedAt);
  const row = await stored('changed');
  assert.deepEqual([row.sealedApiKey, row.baseURL], [null, null]);
});

test('one of many concurrent puts remains, and its credential decrypts', async () => {
  const keys = Array.from({ length: 12 }, (_, i) => `sk-${i}`);
  const responses = await Promise.all(
    keys.map((apiKey) => put('contended', { kind: 'openai', apiKey })),
  );
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]));
  const { apiKey } = await stored('contended');
  assert.ok(keys.includes(apiKey ?? ''));
});

test('a private host is accepted if the server allows it', async () => {
  const body = { kind: 'openai-compatible', baseURL: `http://${allowedHost}/v1` };
  assert.equal((await put('local', body)).status, 200);
});

test('a kind with a default base URL needs none; null means the default', async () => {
  for (const kind of ['openai', 'anthropic', 'google', 'bedrock', 'ollama']) {
    const { status, body } = await put(`plain-${kind}`, { kind, apiKey: 'k', baseURL: null });
    assert.deepEqual([status, body.baseURL], [200, null]);
  }
});

test('two workspaces may use the same name', async () => {
  const { workspaceId, ownerId } = await service.workspace();
  await put('twin', { kind: 'openai', apiKey: 'sk-ours' });
  await put('twin', { kind: 'openai', apiKey: 'sk-theirs' }, { user: ownerId });
  assert.equal((await stored('twin')).apiKey, 'sk-ours');
  assert.equal((await stored('twin', workspaceId)).apiKey, 'sk-theirs');
});
