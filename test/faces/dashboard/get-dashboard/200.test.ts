import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Fastify from 'fastify';
import { startService } from '../../../../harness/service.ts';
import { dashboardRoutes } from '../../../../src/faces/dashboard/dashboard.ts';

const service = await startService();
after(service.close);
const get = (path: string, encoding = 'identity') =>
  fetch(service.url + path, { headers: { 'accept-encoding': encoding } });

test('every dashboard path returns the page, with a policy for this response only', async () => {
  const nonces = new Set<string>();
  const paths = ['/', '/agents', '/agents/agt_x/keys', '/sign-in?from=/', '/invitations/t'];
  for (const path of [...paths, '/no-workspace']) {
    const response = await get(path);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'no-cache');
    const policy = response.headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/);
    assert.doesNotMatch(policy, /unsafe/);
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? '';
    assert.ok((await response.text()).includes(`content="${nonce}"`));
    nonces.add(nonce);
  }
  assert.equal(nonces.size, 6);
});

test('the page contains the color scheme of the cookie, and no other cookie value', async () => {
  const chosen = async (cookie: string) => {
    const html = await (await fetch(service.url, { headers: { cookie } })).text();
    return /data-mantine-color-scheme="([^"]*)"/.exec(html)?.[1];
  };
  assert.equal(await chosen('a=b; cueline-color-scheme=dark'), 'dark');
  assert.equal(await chosen('cueline-color-scheme=light; c=d'), 'light');
  assert.equal(await chosen('x-cueline-color-scheme=dark'), '');
  assert.equal(await chosen('cueline-color-scheme="><script>'), '');
  const { headers } = await get('/');
  assert.equal(headers.get('vary'), 'cookie');
});

test('assets are immutable, and compressed for clients that accept it', async () => {
  const [script = ''] = /\/assets\/index-[^"]+\.js/.exec(await (await get('/')).text()) ?? [];
  const plain = await get(script);
  assert.equal(plain.headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.match(plain.headers.get('cache-control') ?? '', /immutable/);
  const text = await plain.text();
  for (const encoding of ['br', 'gzip']) {
    const response = await get(script, encoding);
    assert.equal(response.headers.get('content-encoding'), encoding);
    assert.equal(response.headers.get('vary'), 'accept-encoding');
    assert.equal(await response.text(), text);
  }
});

test('other paths return 404', async () => {
  const strange = ['/nothing', '/assets/nothing.js', '/assets/..%2findex.html', '/agentsx'];
  for (const path of strange) {
    const response = await get(path);
    assert.equal(response.status, 404, path);
    assert.equal(((await response.json()) as { code: string }).code, 'NOT_FOUND');
  }
});

test('an unknown path returns 404: the page for browsers, the error for other clients', async () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const typeAt = async (method: string, path: string, accept: string) => {
    const { status, headers } = await fetch(service.url + path, { method, headers: { accept } });
    assert.equal(status, 404, path);
    return headers.get('content-type')?.split(';')[0];
  };
  for (const path of ['/nope', '/nope/x?y=1', '/agentsx'])
    assert.equal(await typeAt('GET', path, browser), 'text/html', path);
  for (const path of ['/api', '/api/v1/nope', '/api?x', '/assets/x.js', '/docs/x'])
    assert.equal(await typeAt('GET', path, browser), 'application/json', path);
  assert.equal(await typeAt('POST', '/nope', browser), 'application/json');
  assert.equal(await typeAt('GET', '/nope', 'application/json, text/html'), 'application/json');
});

test('without a build, the page says so', async () => {
  const app = Fastify();
  after(() => app.close());
  dashboardRoutes(app, '/nowhere');
  const { statusCode, body } = await app.inject('/');
  assert.equal(statusCode, 200);
  assert.match(body, /The dashboard is not built/);
});
