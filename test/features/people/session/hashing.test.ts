import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { after, test } from 'node:test';
import { send } from '../../../../harness/browser.ts';
import { startService } from '../../../../harness/service.ts';
import { password } from '../../../../harness/sessions.ts';

const service = await startService();
after(service.close);

/** The number of passwords hashed during `work`, and the maximum at once. */
async function hashesOf(work: () => Promise<unknown>) {
  const busy = new Set<number>();
  const seen = { all: 0, atOnce: 0 };
  const hook = createHook({
    init(id, type) {
      if (type !== 'SCRYPTREQUEST') return;
      busy.add(id);
      seen.all++;
      seen.atOnce = Math.max(seen.atOnce, busy.size);
    },
    before: (id) => void busy.delete(id),
  }).enable();
  await work().finally(() => hook.disable());
  return seen;
}

async function invite(email: string): Promise<string> {
  const body = { email, role: 'viewer' };
  const response = await service.call('POST', '/api/v1/invitations', {
    user: service.ownerId,
    body,
  });
  return response.body.url.split('/').at(-1);
}

test('sign-ins and accepted invitations hash at most two passwords at once', async () => {
  const { email } = await service.signIn();
  const tokens = await Promise.all(['a', 'b', 'c', 'd'].map((one) => invite(`${one}@example.com`)));
  const seen = await hashesOf(async () => {
    const statuses = await Promise.all([
      ...tokens.map(async (token) => {
        const body = { token, name: 'New', password };
        return (await service.call('POST', '/api/v1/invitations/accept', { body })).status;
      }),
      ...tokens.map(async () => {
        const body = { email, password };
        return (await send(service.url, 'POST', '/api/auth/sign-in/email', { body })).status;
      }),
    ]);
    assert.deepEqual(statuses, Array(8).fill(200));
  });
  assert.equal(seen.all, 8);
  assert.ok(seen.atOnce <= 2, `${seen.atOnce} at once`);
});
