import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { generateToken } from '../../../../src/core/people/token.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService({ config: { trustedProxies: ['127.0.0.1'] } });
after(service.close);
const user = service.ownerId;
const path = (token: string) => `/api/v1/invitations/by-token/${token}`;

async function invite(email: string) {
  const body = { email, role: 'viewer' };
  const { body: made } = await service.call('POST', '/api/v1/invitations', { user, body });
  return { id: made.invitationId, token: made.url.split('/').at(-1) };
}

async function refused(
  token: string,
  status = 404,
  code = 'NOT_FOUND',
  headers: Record<string, string> = {},
) {
  const response = await service.call('GET', path(token), { headers });
  assert.deepEqual([response.status, response.body.code], [status, code]);
  return response;
}

test('404 for a token that is unknown, malformed, expired, revoked or used', async () => {
  for (const token of [generateToken(), 'a%00b', 'x'.repeat(2_000)]) await refused(token);

  const expired = await invite('late@example.com');
  await sql`
    update invitations set expires_at = clock_timestamp() - interval '1 second'
    where email = 'late@example.com'`.execute(service.db);
  await refused(expired.token);

  const revoked = await invite('gone@example.com');
  await service.call('DELETE', `/api/v1/invitations/${revoked.id}`, { user });
  await refused(revoked.token);

  const { token } = await invite('used@example.com');
  const body = { token, name: 'Used', password: 'correct horse battery' };
  assert.equal((await service.call('POST', '/api/v1/invitations/accept', { body })).status, 200);
  await refused(token);
});

test('429 after many unknown tokens from one network; other networks are not affected', async () => {
  const good = await invite('patient@example.com');
  const token = generateToken();
  for (let i = 0; i < 10; i++) await refused(token);
  const { headers } = await refused(token, 429, 'RATE_LIMIT_EXCEEDED');
  assert.ok(Number(headers.get('retry-after')) >= 1);
  assert.equal((await service.call('GET', path(good.token))).status, 200);
});

test('a port in the proxy header is not another caller, and callers with mapped addresses are', async () => {
  const token = generateToken();
  for (let port = 1; port <= 10; port++) {
    await refused(token, 404, 'NOT_FOUND', { 'x-forwarded-for': `203.0.113.9:${port}` });
  }
  for (const again of ['203.0.113.9', '203.0.113.9:11', '::ffff:203.0.113.9', '127.0.0.1:80']) {
    const forwarded = again.startsWith('127') ? `203.0.113.9:12, ${again}` : again;
    await refused(token, 429, 'RATE_LIMIT_EXCEEDED', { 'x-forwarded-for': forwarded });
  }
  await refused(token, 404, 'NOT_FOUND', { 'x-forwarded-for': '::ffff:203.0.113.10' });
});
