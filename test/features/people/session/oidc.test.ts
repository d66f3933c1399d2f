import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { type AuthResponse, send } from '../../../../harness/browser.ts';
import { startIssuer } from '../../../../harness/issuer.ts';
import { type Service, startService } from '../../../../harness/service.ts';
import { password } from '../../../../harness/sessions.ts';
import { toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const publicUrl = 'http://cueline.example.com';
const issuer = await startIssuer();
const service = await startWith(issuer.url);
after(service.close);
after(issuer.close);
const { key } = await service.key();
beforeEach(() => {
  issuer.defect = 'none';
});

function startWith(url: string, sharedWith?: Service): Promise<Service> {
  const oidc = { ...issuer.client, issuer: url };
  return startService({ publicUrl, providers: { oidc }, ...(sharedWith && { sharedWith }) });
}

const depart = (path: string, cookie?: string, at = service) =>
  send(at.url, 'POST', `/api/auth/${path}`, {
    origin: at.url,
    body: { provider: 'oidc', callbackURL: '/agents' },
    ...(cookie !== undefined && { cookie }),
  });

/** Follows the redirects to the issuer and back; maps the public URL, which no machine has, to this server. */
async function roundTrip(departed: AuthResponse, cookie = ''): Promise<AuthResponse> {
  assert.equal(departed.status, 200);
  const there = await fetch(departed.body.url, { redirect: 'manual' });
  const back = there.headers.get('location') ?? '';
  assert.ok(back.startsWith(`${publicUrl}/api/auth/callback/oidc?`));
  const path = back.slice(publicUrl.length);
  return send(service.url, 'GET', path, { cookie: [cookie, departed.cookie].join('; ') });
}

const signIn = async () => roundTrip(await depart('sign-in/social'));

function arrived({ status, headers, cookie }: AuthResponse): string {
  assert.deepEqual([status, headers.get('location')], [302, '/agents']);
  assert.match(cookie, /cueline\.session_token=[^;]/);
  return cookie;
}

function turnedAway({ status, headers, cookie }: AuthResponse, error: string): void {
  const location = new URL(headers.get('location') ?? '', publicUrl);
  assert.deepEqual([status, location.pathname], [302, '/sign-in']);
  assert.equal(location.searchParams.get('error'), error);
  assert.doesNotMatch(cookie, /session_token=[^;]/);
}

async function invite(email: string): Promise<string> {
  const body = { email, role: 'editor' };
  const response = await service.call('POST', '/api/v1/invitations', { key, body });
  return response.body.url.split('/').at(-1);
}

async function countUsers(email: string): Promise<number> {
  const { rows } = await sql`select from users where email = ${email}`.execute(service.db);
  return rows.length;
}

test('an invited address signs in with the issuer and joins', async () => {
  const token = await invite('ada@example.com');
  issuer.person = {
    sub: 'ada',
    email: 'Ada@example.com',
    email_verified: true,
    name: 'Ada\u202E\n',
  };
  const cookie = arrived(await signIn());
  const accepted = await service.call('POST', '/api/v1/invitations/accept', {
    body: { token },
    headers: { cookie, origin: publicUrl },
  });
  assert.equal(accepted.status, 200);
  const again = arrived(await signIn());
  const { body: me } = await service.call('GET', '/api/v1/me', { cookie: again });
  assert.deepEqual([me.user.email, me.user.name, me.role], ['ada@example.com', 'Ada', 'editor']);
  const { rows } = await sql`
    select access_token, refresh_token, id_token from accounts where account_id = 'ada'`.execute(
    service.db,
  );
  assert.deepEqual(rows, [{ accessToken: null, refreshToken: null, idToken: null }]);
});

test('sign-up requires an invitation and a verified address', async () => {
  issuer.person = { sub: 'eve', email: 'eve@example.com', email_verified: true, name: 'Eve' };
  turnedAway(await signIn(), 'not_invited');
  for (const verified of [{ email_verified: false }, {}]) {
    await invite('bob@example.com');
    issuer.person = { sub: 'bob', email: 'bob@example.com', name: 'Bob', ...verified };
    turnedAway(await signIn(), 'email_not_verified');
  }
  assert.deepEqual(
    [await countUsers('eve@example.com'), await countUsers('bob@example.com')],
    [0, 0],
  );
});

test('an account with a password is not taken over; its signed-in user can link it', async () => {
  const { userId, email, cookie } = await service.signIn('viewer');
  issuer.person = { sub: userId, email, email_verified: true, name: 'Same' };
  turnedAway(await signIn(), 'account_not_linked');
  const linked = await roundTrip(await depart('link-social', cookie), cookie);
  assert.deepEqual([linked.status, linked.headers.get('location')], [302, '/agents']);
  const { body: me } = await service.call('GET', '/api/v1/me', { cookie: arrived(await signIn()) });
  assert.equal(me.user.userId, toId('user', userId));
  await service.signIn({ userId });
});

test('an account with a verified address is linked by signing in', async () => {
  const { userId, email } = await service.signIn('viewer');
  await sql`update users set email_verified = true where id = ${userId}`.execute(service.db);
  issuer.person = { sub: userId, email, email_verified: false, name: 'Same' };
  turnedAway(await signIn(), 'account_not_linked');
  issuer.person = { ...issuer.person, email_verified: true };
  const { body: me } = await service.call('GET', '/api/v1/me', { cookie: arrived(await signIn()) });
  assert.equal(me.user.userId, toId('user', userId));
});

test('another person’s provider account is not linked', async () => {
  const { cookie } = await service.signIn('viewer');
  issuer.person = { sub: 'mallory', email: 'mallory@example.com', email_verified: true };
  const linked = await roundTrip(await depart('link-social', cookie), cookie);
  turnedAway(linked, 'email_does_not_match');
});

for (const defect of ['nonce', 'signature', 'audience'] as const) {
  test(`an ID token with a wrong ${defect} is rejected`, async () => {
    await invite('carol@example.com');
    issuer.person = { sub: 'carol', email: 'carol@example.com', email_verified: true };
    issuer.defect = defect;
    turnedAway(await signIn(), 'unable_to_get_user_info');
    assert.equal(await countUsers('carol@example.com'), 0);
  });
}

test('a callback without a sign-in of the same browser is rejected', async () => {
  const departed = await depart('sign-in/social');
  turnedAway(await roundTrip({ ...departed, cookie: '' }), 'state_mismatch');
  const path = '/api/auth/callback/oidc?code=x&state=y';
  turnedAway(await send(service.url, 'GET', path), 'state_mismatch');
});

test('redirects lead only to pages of this server', async () => {
  for (const callbackURL of ['https://evil.example.com', '//evil.example.com', '/\\evil', 'x']) {
    const body = { provider: 'oidc', callbackURL };
    const response = await send(service.url, 'POST', '/api/auth/sign-in/social', { body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
  }
});

test('an unavailable issuer does not block other sign-ins, and is used once it is available', async (t) => {
  const late = await startIssuer({ down: true });
  t.after(late.close);
  const second = await startWith(late.url, service);
  t.after(second.close);
  const { email } = await service.signIn();
  const down = await depart('sign-in/social', undefined, second);
  assert.deepEqual([down.status, down.body.code], [503, 'UNAVAILABLE']);
  const body = { email, password };
  assert.equal((await send(second.url, 'POST', '/api/auth/sign-in/email', { body })).status, 200);
  late.down = false;
  assert.equal((await depart('sign-in/social', undefined, second)).status, 200);
  assert.deepEqual(
    second.faults.splice(0).map((fault) => (fault as { msg: string }).msg),
    ['request rejected'],
  );
});

test('404 for a provider that is not configured, and for all without a public URL', async (t) => {
  for (const provider of ['github', 'google', 'other']) {
    const body = { provider, callbackURL: '/' };
    const response = await send(service.url, 'POST', '/api/auth/sign-in/social', { body });
    assert.deepEqual([response.status, response.body.code], [404, 'NOT_FOUND']);
  }
  const plain = await startService({ sharedWith: service });
  t.after(plain.close);
  assert.equal((await depart('sign-in/social', undefined, plain)).status, 404);
});

test('GitHub and Google get our client id and the public callback', async (t) => {
  const client = { clientId: 'ours', clientSecret: 'secret' };
  const providers = { github: client, google: client };
  const second = await startService({ sharedWith: service, publicUrl, providers });
  t.after(second.close);
  for (const [provider, host] of [
    ['github', 'github.com'],
    ['google', 'accounts.google.com'],
  ]) {
    const body = { provider, callbackURL: '/' };
    const response = await send(second.url, 'POST', '/api/auth/sign-in/social', { body });
    const url = new URL(response.body.url);
    const { client_id, redirect_uri } = Object.fromEntries(url.searchParams);
    const callback = `${publicUrl}/api/auth/callback/${provider}`;
    assert.deepEqual([url.host, client_id, redirect_uri], [host, 'ours', callback]);
  }
});

test('under a path the issuer sends the browser back to that path', async (t) => {
  const oidc = { ...issuer.client, issuer: issuer.url };
  const below = `${publicUrl}/cueline`;
  const options = { publicUrl: below, providers: { oidc }, sharedWith: service };
  const published = await startService(options);
  t.after(published.close);
  await invite('path@example.com');
  issuer.person = { sub: 'path', email: 'path@example.com', email_verified: true, name: 'Path' };
  const departed = await send(published.url, 'POST', '/cueline/api/auth/sign-in/social', {
    origin: publicUrl,
    body: { provider: 'oidc', callbackURL: '/cueline/agents' },
  });
  assert.equal(departed.status, 200);
  const there = await fetch(departed.body.url, { redirect: 'manual' });
  const back = there.headers.get('location') ?? '';
  assert.ok(back.startsWith(`${below}/api/auth/callback/oidc?`), back);
  const { status, headers, cookie } = await send(
    published.url,
    'GET',
    back.slice(publicUrl.length),
    { cookie: departed.cookie },
  );
  assert.deepEqual([status, headers.get('location')], [302, '/cueline/agents']);
  assert.match(cookie, /session_token=[^;]/);
});
