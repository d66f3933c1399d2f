import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAgent, ended } from '../../harness/agents.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();
const { key } = await service.key();
const agent = await addAgent(service, { user: '{{name}}' });

async function say(name: string, labels: object) {
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { name }, ...labels },
  });
  return ended(service, body.statusUrl, key);
}

const labels = { user: 'ann & co', session: 'chat/1?' };
await say('# First question', labels);
service.models.script(new ModelFailure('PROVIDER_AUTH', 'no'));
await say('Second question', labels);
await say('Third question', labels);
await say('Elsewhere', { user: 'ann & co', session: 'chat 2', tags: ['beta'] });

test('a session reads as a chat, from a record to its user', async () => {
  const { page, check } = await visit(`/session?session=${encodeURIComponent(labels.session)}`, {
    as: 'viewer',
  });
  const turns = page.getByRole('list', { name: 'Conversation' }).getByRole('listitem');
  await turns.nth(2).waitFor();
  assert.equal(await turns.count(), 3);
  const texts = [];
  for (let n = 0; n < 3; n++) texts.push(await turns.nth(n).innerText());
  assert.match(texts[0] ?? '', /First question/);
  assert.match(texts[1] ?? '', /Second question.*PROVIDER_AUTH/s);
  assert.match(texts[2] ?? '', /Third question/);
  await check();
  await page.getByText('Markdown').click();
  await page.getByRole('heading', { name: 'First question' }).waitFor();
  await page.getByRole('link', { name: 'ann & co' }).click();
  await page.getByRole('heading', { name: 'User ann & co' }).waitFor();
});

test('a user has figures, sessions and, for owners, an erasure', async () => {
  const path = `/user?user=${encodeURIComponent(labels.user)}`;
  const { page, check } = await visit(path, { as: 'owner' });
  const sessions = page.getByRole('table', { name: 'Sessions of the user' }).getByRole('row');
  await sessions.nth(1).filter({ hasText: 'chat 2' }).waitFor();
  await sessions.nth(2).filter({ hasText: 'chat/1?' }).waitFor();
  await check();
  await page.getByRole('button', { name: 'Erase…' }).click();
  await page.getByRole('dialog', { name: 'Erase these records?' }).waitFor();
  await page.getByText('4 records').waitFor();
  const viewer = await visit(path, { as: 'viewer' });
  await viewer.page.getByRole('link', { name: 'chat 2' }).waitFor();
  assert.equal(await viewer.page.getByRole('button', { name: 'Erase…' }).count(), 0);
});

test('a user without records has no figures, but what may be the reason', async () => {
  const { page, check } = await visit('/user?user=nobody', { as: 'viewer' });
  await page.getByText('in exactly this spelling').waitFor();
  assert.equal(await page.getByText('Latency p95').count(), 0);
  await check();
});

test('headers sort the list, which has the first line of the output and totals', async () => {
  const { page, check } = await visit(`/agents/${agent.agentId}/history`, { as: 'viewer' });
  const sortBy = (name: string) =>
    page.getByRole('columnheader', { name }).getByRole('button').click();
  const rows = page.getByRole('table', { name: 'Executions' }).getByRole('row');
  const row = (place: number, hasText: string) => rows.nth(place).filter({ hasText }).waitFor();
  await row(1, 'Elsewhere');
  await row(3, 'PROVIDER_AUTH');
  await page.getByText('p95 ≈').waitFor();
  await check();
  await sortBy('Started');
  await row(1, '# First question');
  await row(4, 'Elsewhere');
  await sortBy('Tokens');
  // The failed one has none, and the others have as many: the newest of them first.
  await row(4, 'PROVIDER_AUTH');
  await sortBy('Tokens');
  await row(1, 'PROVIDER_AUTH');
});

test('the palette leads to a user, a session, the failed executions and settings', async () => {
  const { page } = await visit('/agents', { as: 'owner' });
  const choose = async (text: string, name: RegExp) => {
    await page.getByRole('button', { name: 'Search' }).first().click();
    const palette = page.getByRole('dialog');
    await palette.getByRole('textbox').fill(text);
    await palette.getByRole('button', { name }).first().click();
  };
  await choose(`user ${labels.user}`, /^User ann & co$/);
  await page.getByRole('heading', { name: `User ${labels.user}` }).waitFor();
  await choose(labels.session, /^Session chat\/1\?$/);
  await page
    .getByRole('list', { name: 'Conversation' })
    .getByText('# First question')
    .first()
    .waitFor();
  await choose('failed exec', /^Failed executions$/);
  await page.getByText('1 execution matches').waitFor();
  await choose('audit', /^Settings: Audit log$/);
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
});

test('charts of a user and a tag count the records of both', async () => {
  const of = (tag: string) => `/analytics?user=${encodeURIComponent(labels.user)}&tag=${tag}`;
  const { page, check } = await visit(of('beta'), { as: 'viewer' });
  await page.getByText('User and tag together: stored records only').waitFor();
  await page.getByRole('table').first().waitFor();
  await check();
  const other = await visit(of('nobody-has-it'), { as: 'viewer' });
  await other.page.getByRole('heading', { name: 'No executions in this period' }).waitFor();
});
