import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { startSystemApp } from '../../../harness/system-app.ts';
import { isLocal } from '../../../src/process/system-routes.ts';

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

test('loopback is decided by the connection and the host name, and a proxied request is remote', () => {
  const host = 'localhost:4000';
  const cases: [string | undefined, Record<string, string>, boolean][] = [
    ['127.0.0.1', { host }, true],
    ['127.8.9.10', { host: '127.0.0.1' }, true],
    ['::1', { host: '[::1]:4000' }, true],
    ['::ffff:127.0.0.1', { host: 'LOCALHOST' }, true],
    ['10.0.0.1', { host }, false],
    ['::ffff:10.0.0.1', { host }, false],
    ['fe80::1', { host }, false],
    [undefined, { host }, false],
    ['127.0.0.1', { host, 'x-forwarded-for': '127.0.0.1' }, false],
    ['127.0.0.1', { host, 'x-forwarded-proto': 'https' }, false],
    ['127.0.0.1', { host, forwarded: 'for=127.0.0.1' }, false],
    ['127.0.0.1', { host, 'x-real-ip': '' }, false],
    ['127.0.0.1', { host, via: '1.1 proxy' }, false],
    ['127.0.0.1', { host, 'x-forwarded': 'for=127.0.0.1' }, false],
    ['127.0.0.1', { host, 'x-original-forwarded-for': '127.0.0.1' }, false],
    ['127.0.0.1', { host, 'x-client-ip': '127.0.0.1' }, false],
    ['127.0.0.1', { host, 'x-cluster-client-ip': '127.0.0.1' }, false],
    ['127.0.0.1', { host, 'true-client-ip': '127.0.0.1' }, false],
    ['127.0.0.1', { host, 'fastly-client-ip': '127.0.0.1' }, false],
    ['127.0.0.1', { host, 'cf-connecting-ip': '127.0.0.1' }, false],
    ['127.0.0.1', { host, 'cdn-loop': 'cdn' }, false],
    ['127.0.0.1', {}, false],
    ['127.0.0.1', { host: '' }, false],
    ['127.0.0.1', { host: 'cueline.example.com' }, false],
    ['127.0.0.1', { host: 'localhost.example.com' }, false],
    ['127.0.0.1', { host: '127.0.0.1.example.com:80' }, false],
    ['127.0.0.1', { host: '10.0.0.1:4000' }, false],
  ];
  for (const [remoteAddress, headers, local] of cases) {
    const socket = { remoteAddress } as Socket;
    assert.equal(isLocal({ socket, headers }), local, JSON.stringify([remoteAddress, headers]));
  }
});
