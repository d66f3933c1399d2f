import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type AuthRequest, send } from '../../../../harness/browser.ts';
import { startService } from '../../../../harness/service.ts';
import { password } from '../../../../harness/sessions.ts';
import { cookieOptions } from '../../../../src/features/people/access/session-options.ts';

const service = await startService();
after(service.close);
const { email, userId } = await service.signIn();
const path = '/api/auth/sign-in/email';
const signIn = (body: unknown, sent: AuthRequest = {}) =>
  send(service.url, 'POST', path, { body, ...sent });

test('the right password starts a session with an HttpOnly cookie', async () => {
  const { status, headers, body, cookie } = await signIn({ email: email.toUpperCase(), password });
  assert.equal(status, 200);
  assert.equal(body.user.email, email);
  assert.match(headers.get('x-request-id') ?? '', /^req_/);
  const [set = '', ...rest] = headers.getSetCookie();
  assert.deepEqual(rest, []);
  const [pair, ...attributes] = set.split('; ');
  assert.match(pair ?? '', /^cueline\.session_token=/);
  assert.deepEqual(attributes.sort(), ['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Lax']);
  const me = await service.call('GET', '/api/v1/me', { cookie });
  assert.equal(me.status, 200);
  assert.equal(me.body.user.email, email);
});

test('a session without rememberMe ends with the browser', async () => {
  const { headers } = await signIn({ email, password, rememberMe: false });
  assert.ok(headers.getSetCookie().every((cookie) => !cookie.includes('Max-Age')));
});

test('over https the cookie is bound to the host, and browsers stay with https', async (t) => {
  const publicUrl = 'https://cueline.example.com';
  const beside = await startService({ sharedWith: service, publicUrl });
  t.after(beside.close);
  const { headers, cookie } = await send(beside.url, 'POST', path, { body: { email, password } });
  const [set = ''] = headers.getSetCookie();
  assert.match(set, /^__Host-cueline\.session_token=.*; Path=\/;.*; Secure/);
  assert.doesNotMatch(set, /Domain/);
  assert.equal((await beside.call('GET', '/api/v1/me', { cookie })).status, 200);
  for (const url of ['/api/v1/me', '/healthz', '/', '/nowhere']) {
    const { headers: sent } = await fetch(beside.url + url);
    assert.equal(sent.get('strict-transport-security'), 'max-age=31536000', url);
    const { headers: plain } = await fetch(service.url + url);
    assert.equal(plain.get('strict-transport-security'), null, url);
  }
});

test('below a path, the cookie is bound to it', () => {
  const cases = [
    ['https://a.example', '__Host-cueline', true, '/'],
    ['https://a.example/', '__Host-cueline', true, '/'],
    ['https://a.example/cueline', '__Secure-cueline', true, '/cueline'],
    ['https://a.example/cueline/', '__Secure-cueline', true, '/cueline'],
    ['http://a.example/cueline', 'cueline', false, '/cueline'],
    ['http://a.example', 'cueline', false, '/'],
    [null, 'cueline', false, '/'],
  ] as const;
  for (const [publicUrl, cookiePrefix, secure, path] of cases) {
    const defaultCookieAttributes = { secure, path };
    assert.deepEqual(
      cookieOptions(publicUrl),
      { cookiePrefix, useSecureCookies: false, defaultCookieAttributes },
      String(publicUrl),
    );
  }
});

test('a wrong password and an unknown address get the same response', async () => {
  const wrong = await signIn({ email, password: `${password}!` });
  const unknown = await signIn({ email: 'nobody@example.com', password });
  for (const { status, headers, body } of [wrong, unknown]) {
    assert.equal(status, 401);
    assert.deepEqual(headers.getSetCookie(), []);
    const { requestId, ...rest } = body;
    assert.equal(requestId, headers.get('x-request-id'));
    assert.deepEqual(rest, {
      error: 'Unauthorized',
      message: 'Invalid email or password',
      code: 'UNAUTHORIZED',
    });
  }
});

const malformed: [string, unknown, AuthRequest, number, string][] = [
  ['no password', { email }, {}, 400, 'INVALID_REQUEST'],
  ['no address', { email: 'someone', password }, {}, 400, 'INVALID_REQUEST'],
  ['an unknown field', { email, password, callbackURL: '/' }, {}, 400, 'INVALID_REQUEST'],
  ['a NUL', { email, password: 'long enough \u0000' }, {}, 400, 'INVALID_REQUEST'],
  ['a password without end', { email, password: 'x'.repeat(129) }, {}, 400, 'INVALID_REQUEST'],
  ['no JSON', '{', {}, 400, 'MALFORMED_BODY'],
  [
    'a form',
    `email=${email}&password=${password}`,
    { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
];
for (const [what, body, sent, status, code] of malformed) {
  test(`refuses ${what}`, async () => {
    const response = await signIn(body, sent);
    assert.deepEqual([response.status, response.body.code], [status, code]);
  });
}

test('sign-up and all other paths of better-auth return 404', async () => {
  const { cookie } = await service.signIn({ userId });
  const body = { email: 'new@example.com', password, name: 'New' };
  for (const [method, closed] of [
    ['POST', 'sign-up/email'],
    ['POST', 'change-email'],
    ['POST', 'update-user'],
    ['POST', 'delete-user'],
    ['POST', 'request-password-reset'],
    ['POST', 'reset-password'],
    ['POST', 'get-access-token'],
    ['GET', 'ok'],
    ['GET', 'error'],
    ['GET', 'callback/other'],
    ['GET', 'constructor'],
    ['GET', ''],
  ] as const) {
    const sent = { cookie, origin: service.url, ...(method === 'POST' && { body }) };
    const response = await send(service.url, method, `/api/auth/${closed}`, sent);
    assert.deepEqual([closed, response.status, response.body.code], [closed, 404, 'NOT_FOUND']);
  }
  assert.equal((await signIn(body)).status, 400);
  assert.equal((await signIn({ email: body.email, password })).status, 401);
});

test('a wrong method returns 405', async () => {
  for (const [method, path, allowed] of [
    ['GET', '/api/auth/sign-in/email', 'POST'],
    ['POST', '/api/auth/get-session', 'GET'],
    ['DELETE', '/api/auth/sign-out', 'POST'],
  ] as const) {
    const { status, headers, body } = await send(service.url, method, path);
    assert.deepEqual([status, body.code], [405, 'METHOD_NOT_ALLOWED']);
    assert.equal(headers.get('allow'), allowed);
  }
});

test('a page of another origin cannot sign a browser in', async () => {
  const body = { email, password };
  const foreign = 'https://evil.example.com';
  assert.equal((await signIn(body, { origin: foreign })).status, 403);
  assert.equal((await signIn(body, { headers: { 'sec-fetch-site': 'cross-site' } })).status, 403);
  assert.equal((await signIn(body, { origin: 'null' })).status, 403);
  assert.equal((await signIn(body, { origin: service.url })).status, 200);
  assert.equal((await signIn(body, { headers: { 'sec-fetch-site': 'same-origin' } })).status, 200);
});
