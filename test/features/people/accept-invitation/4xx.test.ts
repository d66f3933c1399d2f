import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { send } from '../../../../harness/browser.ts';
import { startService } from '../../../../harness/service.ts';
import { generateToken } from '../../../../src/core/people/token.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/invitations/accept';
const { key } = await service.key();
const person = { name: 'New', password: 'correct horse battery' };

async function invite(email: string): Promise<string> {
  const body = { email, role: 'editor' };
  const { body: response } = await service.call('POST', '/api/v1/invitations', { key, body });
  return response.url.split('/').at(-1);
}
async function accept(body: object, options: { cookie?: string } = {}) {
  const response = await service.call('POST', path, { ...options, body });
  return [response.status, response.body.code];
}

test('400 without a required field; the link stays valid', async () => {
  const token = await invite('new@example.com');
  const refused = [400, 'INVALID_REQUEST'];
  assert.deepEqual(await accept({ token }), refused);
  assert.deepEqual(await accept({ token, name: 'New' }), refused);
  assert.deepEqual(await accept({ token, password: person.password }), refused);
  assert.deepEqual(await accept({ token, ...person, name: ' ' }), refused);
  assert.deepEqual(await accept({ token, ...person, password: 'too short' }), refused);
  assert.deepEqual(await accept({ token, ...person, password: 'x'.repeat(129) }), refused);
  assert.deepEqual(await accept({ ...person }), refused);
  assert.deepEqual(await accept({ token, ...person, role: 'owner' }), refused);
  assert.deepEqual((await accept({ token, ...person }))[0], 200);
});

test('400 has the same message whether or not the address has an account', async () => {
  const { email } = await service.signIn({ userId: (await service.workspace()).ownerId });
  const responses: object[] = [];
  for (const token of [await invite(email), await invite('nobody@example.com')]) {
    const { status, body } = await service.call('POST', path, { body: { token } });
    const { requestId, ...rest } = body;
    assert.ok(requestId);
    responses.push({ status, ...rest });
  }
  assert.deepEqual(responses[0], responses[1]);
  assert.match(JSON.stringify(responses[0]), /400.*sign in first/);
});

test('404 with the same message for an unknown, used or expired link', async () => {
  const used = await invite('used@example.com');
  assert.equal((await accept({ token: used, ...person }))[0], 200);
  const expired = await invite('expired@example.com');
  await sql`
    update invitations set expires_at = clock_timestamp() - interval '1 millisecond'
    where email = 'expired@example.com'`.execute(service.db);
  for (const token of ['x', used, expired, `${expired}x`]) {
    assert.deepEqual(await accept({ token, ...person }), [404, 'NOT_FOUND']);
  }
});

test('404 once the key that issued the link was revoked, rotated or has expired', async () => {
  const { key: manager } = await service.key({ permissions: ['manage', 'own'] });
  for (const end of ['revoke', 'rotate', 'expire'] as const) {
    const issuer = await service.key({ permissions: ['own'] });
    const body = { email: `${end}@example.com`, role: 'owner' };
    const invited = await service.call('POST', '/api/v1/invitations', { key: issuer.key, body });
    assert.equal(invited.status, 201);
    const token = invited.body.url.split('/').at(-1);
    const link = `/api/v1/invitations/by-token/${token}`;
    assert.equal((await service.call('GET', link)).status, 200);
    if (end === 'expire') {
      await sql`update api_keys set expires_at = clock_timestamp() where id = ${issuer.id}`.execute(
        service.db,
      );
    } else {
      const ending = `/api/v1/keys/${issuer.apiKeyId}/${end}`;
      assert.ok((await service.call('POST', ending, { key: manager, body: {} })).status < 300);
    }
    assert.equal((await service.call('GET', link)).status, 404, end);
    assert.deepEqual(await accept({ token, ...person }), [404, 'NOT_FOUND'], end);
    const listed = await service.call('GET', '/api/v1/invitations', { key: manager });
    assert.doesNotMatch(JSON.stringify(listed.body), new RegExp(body.email));
  }
});

test('429 after many unknown links from one network; other networks are not affected', async () => {
  const good = await invite('patient@example.com');
  const token = generateToken();
  for (let i = 0; i < 10; i++) {
    assert.deepEqual(await accept({ token, ...person }), [404, 'NOT_FOUND']);
  }
  const refused = await service.call('POST', path, { body: { token, ...person } });
  assert.deepEqual([refused.status, refused.body.code], [429, 'RATE_LIMIT_EXCEEDED']);
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assert.deepEqual((await accept({ token: good, ...person }))[0], 200);
});

test('409 for another person’s account: the link does not open it', async () => {
  const { ownerId } = await service.workspace();
  const { email, cookie } = await service.signIn({ userId: ownerId });
  const stranger = await service.signIn();
  const token = await invite(email);
  const refused = [409, 'CONFLICT'];
  assert.deepEqual(await accept({ token, ...person }), refused);
  assert.deepEqual(await accept({ token, ...person }, stranger), refused);
  const foreign = { cookie, origin: 'https://evil.example.com', body: { token, ...person } };
  assert.equal((await send(service.url, 'POST', path, foreign)).status, 409);
  assert.equal((await accept({ token }, { cookie }))[0], 200);
});

test('409 for an existing member', async () => {
  const { ownerId } = await service.workspace();
  const { email, cookie } = await service.signIn({ userId: ownerId });
  const token = await invite(email);
  await sql`
    insert into members (workspace_id, user_id, role)
    values (${service.workspaceId}, ${ownerId}, 'viewer')`.execute(service.db);
  assert.deepEqual(await accept({ token }, { cookie }), [409, 'CONFLICT']);
});
