import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { startSystemApp } from '../../../harness/system-app.ts';
import { isLocal } from '../../../src/api/routes/system/system.ts';

const token = 'a-token-for-metrics';
const app = await startSystemApp({ metricsToken: token });
after(app.close);

test('metrics need no token on loopback', async () => {
  app.metrics.executionAccepted();
  const response = await fetch(`${app.url}/metrics`);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(await response.text(), /^cueline_executions_accepted_total 1$/m);
});

test('remote requests read the metrics with the token', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.7', authorization: `Bearer ${token}` };
  assert.equal((await fetch(`${app.url}/metrics`, { headers })).status, 200);
});

test('loopback is decided by the connection, and a proxied request is remote', () => {
  const cases: [string | undefined, Record<string, string>, boolean][] = [
    ['127.0.0.1', {}, true],
    ['127.8.9.10', {}, true],
    ['::1', {}, true],
    ['::ffff:127.0.0.1', {}, true],
    ['10.0.0.1', {}, false],
    ['::ffff:10.0.0.1', {}, false],
    ['fe80::1', {}, false],
    [undefined, {}, false],
    ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, false],
    ['127.0.0.1', { forwarded: 'for=127.0.0.1' }, false],
    ['127.0.0.1', { 'x-real-ip': '' }, false],
    ['127.0.0.1', { via: '1.1 proxy' }, false],
  ];
  for (const [remoteAddress, headers, local] of cases) {
    const socket = { remoteAddress } as Socket;
    assert.equal(isLocal({ socket, headers }), local, JSON.stringify([remoteAddress, headers]));
  }
});
