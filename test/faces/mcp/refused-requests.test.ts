import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { legacy, modern, post } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';
import { generateKey } from '../../../src/core/people/key.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
await addAgent(service, { slug: 'greeter' });
const hello = { name: 'greeter', arguments: { name: 'Ada' } };
const metadata = '/.well-known/oauth-protected-resource/mcp';

test('requires a key and says where its metadata is', async () => {
  for (const given of [undefined, 'cue_nonsense']) {
    const { status, headers, body } = await modern(service, 'tools/list', {}, { key: given });
    assert.equal(status, 401);
    assert.equal(body.code, 'UNAUTHORIZED');
    const challenge = headers.get('www-authenticate') ?? '';
    assert.match(challenge, /^Bearer /);
    assert.ok(challenge.includes(`resource_metadata="${service.url}${metadata}"`), challenge);
    assert.equal(challenge.includes('error="invalid_token"'), given !== undefined);
  }
});

test('refuses a key that is not valid whatever the body is', async () => {
  const revoked = await service.key({ revokedAt: new Date(0) });
  const bodies = { 'text/plain': '{}', 'application/json': '{' };
  for (const [type, body] of Object.entries(bodies)) {
    for (const given of [generateKey(), revoked.key]) {
      const headers = { 'content-type': type, authorization: `Bearer ${given}` };
      const response = await fetch(`${service.url}/mcp`, { method: 'POST', headers, body });
      assert.equal(response.status, 401, type);
    }
  }
});

test('publishes the metadata of the protected resource', async () => {
  for (const [path, resource] of [
    ['', '/mcp'],
    ['/mcp', '/mcp'],
    ['/mcp/greeter', '/mcp/greeter'],
  ]) {
    const response = await fetch(`${service.url}/.well-known/oauth-protected-resource${path}`);
    assert.equal(response.status, 200);
    const body = (await response.json()) as Record<string, unknown>;
    assert.equal(body.resource, service.url + resource);
    assert.deepEqual(body.bearer_methods_supported, ['header']);
    assert.deepEqual(body.scopes_supported, ['execute']);
  }
});

test('refuses a key without the permission to execute', async () => {
  const reader = await service.key({ permissions: ['read'] });
  for (const method of ['tools/list', 'tools/call']) {
    const { status, headers, body } = await legacy(service, method, hello, { key: reader.key });
    assert.equal(status, 403);
    assert.equal(body.code, 'PERMISSION_DENIED');
    assert.match(headers.get('www-authenticate') ?? '', /error="insufficient_scope"/);
  }
});

test('records a call with a revoked key like any other', async () => {
  const revoked = await service.key();
  await service.call('POST', `/api/v1/keys/${revoked.apiKeyId}/revoke`, { key });
  const { status } = await modern(service, 'tools/call', hello, { key: revoked.key });
  assert.equal(status, 401);
  const { rows } = await sql<{ code: string }>`
    select error_code as code from executions where status = 'unauthorized'`.execute(service.db);
  assert.deepEqual(rows, [{ code: 'KEY_NOT_AUTHORIZED' }]);
});

test('limits a key without the permission to execute', async () => {
  const reader = await service.key({ permissions: ['read'], rateLimits: { requestsPerDay: 1 } });
  const call = () => legacy(service, 'tools/call', hello, { key: reader.key });
  assert.equal((await call()).status, 403);
  const { status, headers } = await call();
  assert.equal(status, 429);
  assert.ok(Number(headers.get('retry-after')) >= 1);
});

test('answers other methods with 405', async () => {
  for (const path of ['/mcp', '/mcp/greeter']) {
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(service.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
      });
      assert.equal(response.status, 405);
      assert.equal(response.headers.get('allow'), 'POST');
    }
  }
});

test('limits the size and the type of a body', async () => {
  const large = { jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(1_048_576) } };
  assert.equal((await post(service, large, { key })).status, 413);
  const names = Object.fromEntries(Array.from({ length: 11_000 }, (_, n) => [`n${n}`, 1]));
  const beside = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { _meta: names } };
  assert.equal((await post(service, JSON.stringify(beside), { key })).status, 413);
  const headers = { 'content-type': 'text/plain' };
  assert.equal((await legacy(service, 'ping', {}, { key, headers })).status, 415);
});

test('refuses pages of other origins, unless the key allows them', async () => {
  const own = service.url;
  const status = async (origin: string, given = key) =>
    (await legacy(service, 'tools/list', {}, { key: given, headers: { origin } })).status;
  assert.equal(await status(own), 200);
  assert.equal(await status('https://evil.example'), 403);
  assert.equal(await status('null'), 403);
  const page = await service.key({ allowedOrigins: ['https://app.example'] });
  assert.equal(await status('https://app.example', page.key), 200);
  assert.equal(await status('https://evil.example', page.key), 403);
});

test('does not trust a host name that anyone can point here', async () => {
  const status = (host: string) =>
    new Promise((resolve, reject) => {
      const sent = request(`${service.url}/mcp`, {
        method: 'POST',
        headers: {
          ...{ host, origin: `http://${host}`, authorization: `Bearer ${key}` },
          ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }));
    });
  assert.equal(await status('rebound.example:80'), 403);
  assert.equal(await status('localhost:4000'), 200);
});

test('answers preflights of pages that any key allows', async () => {
  await service.key({ allowedOrigins: ['https://pages.example'] });
  const preflight = (origin: string) =>
    fetch(`${service.url}/mcp`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
  const allowed = await preflight('https://pages.example');
  assert.equal(allowed.status, 204);
  assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://pages.example');
  assert.match(allowed.headers.get('access-control-allow-headers') ?? '', /Mcp-Method/);
  const foreign = await preflight('https://evil.example');
  assert.equal(foreign.headers.get('access-control-allow-origin'), null);
});

test('offers one tool at its own path', async () => {
  await addAgent(service, { slug: 'other' });
  const path = '/mcp/greeter';
  const listed = await modern(service, 'tools/list', {}, { key, path });
  assert.deepEqual(
    listed.body.result.tools.map(({ name }: { name: string }) => name),
    ['greeter'],
  );
  const called = await modern(service, 'tools/call', hello, { key, path });
  assert.equal(called.body.result.content[0].text, 'Hello Ada');
  const other = await modern(service, 'tools/call', { ...hello, name: 'other' }, { key, path });
  assert.equal(other.body.error.code, -32602);
  const missing = await modern(service, 'tools/list', {}, { key, path: '/mcp/missing' });
  assert.equal(missing.status, 404);
  assert.equal(missing.body.code, 'NOT_FOUND');
});

test('names the addresses below the public URL', async () => {
  const publicUrl = 'https://tools.example/cueline';
  const proxied = await startService({ sharedWith: service, publicUrl });
  try {
    const path = '/cueline/mcp';
    const refused = await modern(proxied, 'tools/list', {}, { path });
    const at = `${publicUrl}${metadata}`;
    assert.ok(refused.headers.get('www-authenticate')?.includes(`resource_metadata="${at}"`));
    const response = await fetch(`${proxied.url}/cueline${metadata}`);
    assert.equal(((await response.json()) as { resource: string }).resource, `${publicUrl}/mcp`);
    const headers = { origin: 'https://tools.example' };
    const { body } = await modern(proxied, 'tools/call', hello, { key, path, headers });
    assert.ok(body.result._meta.statusUrl.startsWith(`${publicUrl}/api/v1/agents/agt_`));
  } finally {
    await proxied.close();
  }
});
