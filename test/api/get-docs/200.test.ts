import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { startSystemApp } from '../system-app.ts';

const app = await startSystemApp();
after(app.close);

test('the policy of the page allows its own style only', async () => {
  const response = await fetch(`${app.url}/docs`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  const style = /<style>(.*?)<\/style>/s.exec(await response.text())?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none';/);
  assert.ok(policy.includes(`style-src 'sha256-${hash}'`), policy);
});
