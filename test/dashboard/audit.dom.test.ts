import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPages } from './in-dom.ts';

/** The audit log: entries as sentences, with links and filters in the URL. */

const { service, visit } = await openPages();
const _subjectsFor = async (userId: string) => {
  const path = `/api/v1/audit?userId=${userId}&limit=100`;
  const { body } = await service.call('GET', path, { user: service.ownerId });
  return body.audit.map(({ subject }: { subject: string }) => subject);
};

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
