import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { callOver } from '../../../harness/call.ts';
import { startSystemApp } from '../../../harness/system-app.ts';

const token = 'a-token-for-metrics';
const guarded = await startSystemApp({ metricsToken: token });
const closed = await startSystemApp();
after(() => Promise.all([guarded.close(), closed.close()]));

const elsewhere = { 'x-forwarded-for': '203.0.113.7' };

test('remote requests without the token get 401', async () => {
  const wrong = ['', 'Bearer', 'Bearer a-token-for-metric', `Basic ${token}`, `Bearer ${token} x`];
  for (const authorization of wrong) {
    const headers = { ...elsewhere, ...(authorization && { authorization }) };
    const { status, body } = await callOver(guarded.url, 'GET', '/metrics', { headers });
    assert.equal(status, 401, authorization);
    assert.equal(body.code, 'UNAUTHORIZED');
  }
});

test('without a configured token, remote requests get 401', async () => {
  for (const authorization of ['Bearer null', 'Bearer undefined', `Bearer ${token}`]) {
    const headers = { ...elsewhere, authorization };
    const { status } = await callOver(closed.url, 'GET', '/metrics', { headers });
    assert.equal(status, 401, authorization);
  }
});

test('a proxy on this machine that adds no header does not open the metrics', async () => {
  const status = await new Promise((resolve, reject) => {
    const headers = { host: 'cueline.example.com' };
    const sent = request(`${closed.url}/metrics`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end();
  });
  assert.equal(status, 401);
});
