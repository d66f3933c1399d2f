import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { callOver } from '../../../harness/call.ts';
import { startSystemApp } from '../../../harness/system-app.ts';

const app = await startSystemApp();
after(app.close);

test('a process without a database is alive', async () => {
  const { status, body } = await callOver(app.url, 'GET', '/healthz');
  assert.equal(status, 200);
  assert.deepEqual(body, { status: 'ok' });
});
