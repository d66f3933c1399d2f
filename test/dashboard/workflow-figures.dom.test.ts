import { test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { openPages } from './in-dom.ts';

const { service, visit } = await openPages();

test('the average cost of runs is a lower bound if one is unknown', async () => {
  const { key } = await service.key();
  const agent = await addAgent(service);
  const { path, workflowId } = await makeWorkflow(service, greeting(agent.agentId));
  const start = async (usd: string, known: boolean) => {
    service.models.script({ cost: { usd, known } });
    const call = { key, body: { input: { name: 'Ada' } } };
    const { body } = await service.call('POST', `${path}/execute`, call);
    await service.call('GET', `${body.statusUrl}?wait=60`, { key });
  };
  const unused = await visit(`/workflows/${workflowId}`, { as: 'viewer' });
  await unused.page.getByText('no run has ended').first().waitFor();
  await start('0.5', true);
  const known = await visit(`/workflows/${workflowId}`, { as: 'viewer' });
  await known.page.getByText('$0.50', { exact: true }).waitFor();
  await start('0.24', false);
  const { page, check } = await visit(`/workflows/${workflowId}`, { as: 'viewer' });
  await page.getByText('≥ $0.37', { exact: true }).waitFor();
  await check();
});
