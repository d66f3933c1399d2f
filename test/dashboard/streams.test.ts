import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { openDashboard } from './harness.ts';

/** The text of a running execution, as it arrives. */

const { service, visit } = await openDashboard();
const { key } = await service.key();
const agent = await addAgent(service, { user: 'Hello {{name}}' });

/** The next call shows `One`, then `One two` once the test says so, and ends after a third word. */
function script() {
  const second = Promise.withResolvers<void>();
  const third = Promise.withResolvers<void>();
  service.models.script(async (_call, emit) => {
    emit({ type: 'text', text: 'One' });
    await second.promise;
    emit({ type: 'text', text: ' two' });
    await third.promise;
    return { text: ' three' };
  });
  return { second: second.resolve, third: third.resolve };
}

test('the Run page shows it', async () => {
  const { page, check } = await visit(`/agents/${agent.agentId}/run`, { as: 'editor' });
  const { second, third } = script();
  await page.getByLabel('name').fill('you');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const output = page.getByRole('figure', { name: 'Output' });
  await output.getByText('One', { exact: true }).waitFor();
  second();
  await output.getByText('One two', { exact: true }).waitFor();
  third();
  await output.getByText('One two three', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Record' }).waitFor();
  await check();
});

const prefixes = {
  'side panel': `/agents/${agent.agentId}/history?open=`,
  page: '/history/',
};

for (const [place, prefix] of Object.entries(prefixes)) {
  test(`the ${place} of an execution shows it, and then its end`, async () => {
    const { second, third } = script();
    const { body } = await service.call('POST', `${agent.path}/execute`, {
      key,
      body: { variables: { name: 'you' }, stream: true },
    });
    const path = `${prefix}${agent.agentId}/${body.executionId}`;
    const { page, check } = await visit(path, { as: 'viewer' });
    if (place === 'side panel')
      await page.getByRole('complementary', { name: 'Execution' }).waitFor();
    const record = page.getByRole('article');
    const live = record.getByRole('figure', { name: 'Output so far' });
    await live.getByText('One', { exact: true }).waitFor();
    second();
    await live.getByText('One two', { exact: true }).waitFor();
    await check();
    third();
    await record.getByText('One two three', { exact: true }).waitFor();
    await live.waitFor({ state: 'detached' });
    await check();
  });
}
