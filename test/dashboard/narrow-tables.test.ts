import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { openDashboard } from './harness.ts';

/** Settings tables with long texts on narrow screens. */

const { service, visit } = await openDashboard();

test('a long email address does not hide the Revoke button on a phone', async () => {
  const email = `${'long'.repeat(15)}@${'example'.repeat(4)}.com`;
  const { ownerId: user } = service;
  await service.call('POST', '/api/v1/invitations', { user, body: { email, role: 'viewer' } });
  const viewport = { width: 390, height: 844 };
  const { page, check } = await visit('/settings/members', { as: 'owner', viewport });
  await page.getByText(email).waitFor();
  const frame = page.getByRole('region', { name: 'Open invitations' });
  const [needed, there] = await frame.evaluate((one) => [one.scrollWidth, one.clientWidth]);
  assert.equal(needed, there);
  await check();
});

test('audit log rows wrap no more than necessary on a phone', async () => {
  const agent = await addAgent(service);
  const body = { action: 'disable' };
  await service.call('POST', `${agent.path}/lifecycle`, { user: service.ownerId, body });
  for (const [width, linesMax] of [
    [390, 2],
    [1440, 1],
  ] as const) {
    const viewport = { width, height: 844 };
    const { page, check } = await visit('/settings/audit', { as: 'owner', viewport });
    const row = page.getByRole('row').filter({ hasText: agent.agentId });
    const lines = async (of: string) =>
      row.locator(of).evaluate((one) => {
        const range = one.ownerDocument.createRange();
        range.selectNodeContents(one.firstChild ?? one);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
      });
    await row.waitFor();
    assert.equal(await lines('time'), 1);
    assert.ok((await lines('td:nth-child(2) code')) <= linesMax);
    await check();
  }
});
