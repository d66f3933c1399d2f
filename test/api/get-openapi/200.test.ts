import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { callOver } from '../../../harness/call.ts';
import { openapi } from '../../../src/contract/openapi/openapi.ts';
import { startSystemApp } from '../system-app.ts';

const app = await startSystemApp();
after(app.close);

test('the description is generated from the contract', async () => {
  const { status, headers, body } = await callOver(app.url, 'GET', '/openapi.json');
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual(body, JSON.parse(JSON.stringify(openapi('1.2.3'))));
});
