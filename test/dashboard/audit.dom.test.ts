import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf } from '../../dashboard/pages/settings/audit/audit-facts.ts';
import { toId } from '../../src/core/id.ts';
import { openPages } from './in-dom.ts';

/** The audit log: entries as sentences, with links and filters in the URL. */

const { service, visit } = await openPages();

test('a viewer sees only the refusal', async () => {
  const { page } = await visit('/settings/audit', { as: 'viewer' });
  await page.getByRole('alert').getByRole('heading', { name: 'Forbidden' }).waitFor();
  assert.equal(await page.getByLabel('From').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0);
});

test('an invalid filter in the URL shows more entries, not an error', async () => {
  const path = '/settings/audit?userId=nobody&startDate=never';
  const { page, check } = await visit(path, { as: 'owner' });
  await page.getByRole('table', { name: 'Audit log' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Clear filters' }).count(), 0);
  await check();
});

test('what an entry records is shown as facts, not as JSON', async () => {
  const path = `/api/v1/members/${toId('user', await service.member('viewer'))}`;
  const body = { role: 'editor' };
  const { status } = await service.call('PATCH', path, { user: service.ownerId, body });
  assert.equal(status, 200);
  const { page, check } = await visit('/settings/audit?action=member.change', { as: 'owner' });
  await page.getByText('viewer → editor').waitFor();
  await check();
});

test('a change shows only what differs, and settings inside of settings by both names', () => {
  const from = { recordsDays: 30, storeBodies: true, limits: { requestsPerDay: null } };
  const to = { recordsDays: 30, storeBodies: false, limits: { requestsPerDay: 100 } };
  const differences = [
    ['store bodies', 'true → false'],
    ['limits requests per day', 'none → 100'],
  ];
  assert.deepEqual(factsOf({ from, to }), differences);
  const facts = [
    ['fields', 'name, tags'],
    ['user', 'usr_1'],
  ];
  assert.deepEqual(factsOf({ fields: ['name', 'tags'], user: 'usr_1' }), facts);
});
