import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import Fastify from 'fastify';
import { startService } from '../../../../harness/service.ts';
import { dashboardRoutes } from '../../../../src/faces/dashboard/dashboard.ts';

const service = await startService();
after(service.close);

test('the page loads one script of this server, under a policy that allows no other origin', async () => {
  const response = await fetch(`${service.url}/docs`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'no-cache');
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; /);
  assert.doesNotMatch(policy, /https?:|\*|unsafe-eval|script-src[^;]*unsafe/);
  const html = await response.text();
  assert.doesNotMatch(html, /\{\{|https?:/);
  const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
  assert.equal(addresses.length, 2);
  for (const address of addresses) {
    assert.match(String(address), /^\/assets\//);
    const asset = await fetch(service.url + address, { headers: { 'accept-encoding': 'br' } });
    assert.equal(asset.status, 200);
    assert.equal(asset.headers.get('content-encoding'), 'br');
    assert.match(asset.headers.get('cache-control') ?? '', /immutable/);
    await asset.body?.cancel();
  }
});

test('without a build the page says so', async () => {
  const app = Fastify();
  after(() => app.close());
  dashboardRoutes(app, '/nowhere');
  const { statusCode, body } = await app.inject('/docs');
  assert.equal(statusCode, 200);
  assert.match(body, /npm run build:dashboard/);
});
