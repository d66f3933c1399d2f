import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AuthRequest, send } from '../../../../harness/browser.ts';
import { startService } from '../../../../harness/service.ts';

const publicUrl = 'https://cueline.example.com';
const service = await startService();
const proxied = await startService({ sharedWith: service, publicUrl });
after(async () => {
  await proxied.close();
  await service.close();
});

const body = { name: 'Prompt' };
const write = async (url: string, sent: AuthRequest) =>
  (await send(url, 'POST', '/api/v1/prompts', { body, ...sent })).status;

test('a write with a session requires the origin of this server', async () => {
  const { cookie } = await service.signIn();
  const site = (value: string) => ({ headers: { 'sec-fetch-site': value } });
  const own = service.url;
  assert.equal(await write(own, { cookie }), 403);
  assert.equal(await write(own, { cookie, origin: 'null' }), 403);
  assert.equal(await write(own, { cookie, origin: 'https://evil.example.com' }), 403);
  assert.equal(await write(own, { cookie, origin: `${own}.evil.example.com` }), 403);
  assert.equal(await write(own, { cookie, origin: own.replace('http:', 'https:') }), 403);
  assert.equal(await write(own, { cookie, origin: publicUrl }), 403);
  assert.equal(await write(own, { cookie, ...site('same-site') }), 403);
  assert.equal(await write(own, { cookie, ...site('cross-site') }), 403);
  assert.equal(await write(own, { cookie, origin: own }), 201);
  assert.equal(await write(own, { cookie, ...site('same-origin') }), 201);
});

test('the public URL is an origin of this server', async () => {
  const { cookie } = await proxied.signIn();
  assert.equal(await write(proxied.url, { cookie, origin: publicUrl }), 201);
  assert.equal(await write(proxied.url, { cookie, origin: proxied.url }), 201);
  assert.equal(await write(proxied.url, { cookie, origin: `${publicUrl}.example.org` }), 403);
});

test('a write with a session requires JSON', async () => {
  const { cookie } = await service.signIn();
  const headers = { 'content-type': 'text/plain' };
  assert.equal(await write(service.url, { cookie, origin: service.url, headers }), 415);
});

test('signing out requires it too; reads and requests with a key do not', async () => {
  const { cookie } = await service.signIn();
  const foreign = 'https://evil.example.com';
  const signOut = await send(service.url, 'POST', '/api/auth/sign-out', {
    cookie,
    origin: foreign,
  });
  assert.equal(signOut.status, 403);
  const me = await send(service.url, 'GET', '/api/v1/me', { cookie, origin: foreign });
  assert.equal(me.status, 200);
  assert.equal(me.headers.get('access-control-allow-origin'), null);
  const { key } = await service.key();
  const headers = { authorization: `Bearer ${key}` };
  assert.equal(await write(service.url, { headers, origin: foreign }), 201);
});
