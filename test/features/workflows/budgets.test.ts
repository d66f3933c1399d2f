import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../harness/agents.ts';
import { addBudget, addPrice, windowsOf } from '../../../harness/budgets.ts';
import { startService } from '../../../harness/service.ts';
import { addWorkflow, endOfRun, startRun, step, withText } from '../../../harness/workflow-runs.ts';

const service = await startService();
after(service.close);
const model = 'cueline/echo';
await addPrice(service, { model, perToken: 0.0001 });
const { key, id: apiKeyId } = await service.key();
const agentFor = () => addAgent(service, { user: '{{text}}', model, config: { maxTokens: 10 } });

test('a step whose budget is spent fails with the code, and a fallback replaces it', async () => {
  const agent = await agentFor();
  await addBudget(service, { limitUSD: 0.0005, agentIds: [agent.id] });
  const only = step({ name: 'a', agent, ...withText('x') });
  const failing = await addWorkflow(service, { steps: [only] });
  const { run } = await endOfRun(service, failing, await startRun(service, failing, key));
  assert.deepEqual([run.status, run.errorCode, run.failedStep], ['failed', 'STEP_FAILED', 'a']);
  assert.match(run.error ?? '', /BUDGET_EXCEEDED|budget/);
  const lenient = await addWorkflow(service, { steps: [{ ...only, fallback: { output: 'X' } }] });
  const { run: other } = await endOfRun(service, lenient, await startRun(service, lenient, key));
  assert.equal(other.status, 'success');
});

test('a step waits while only running calls are in its way', async () => {
  const agent = await agentFor();
  await addBudget(service, { limitUSD: 0.0015, agentIds: [agent.id] });
  const held = service.models.hold();
  const body = { variables: { text: 'x' } };
  const { body: first } = await service.call('POST', `${agent.path}/execute`, { key, body });
  await held.arrived;
  const only = step({ name: 'a', agent, ...withText('x') });
  const workflow = await addWorkflow(service, { steps: [only] });
  const started = await startRun(service, workflow, key);
  held.release({ cost: { usd: '0.0001', known: true } });
  await ended(service, first.statusUrl, key);
  const { run } = await endOfRun(service, workflow, started);
  assert.equal(run.status, 'success');
});

test('a step counts for the key that started its run', async () => {
  const agent = await agentFor();
  const scope = { apiKeyIds: [apiKeyId], agentIds: [agent.id], per: 'key' } as const;
  const budgetId = await addBudget(service, { limitUSD: 1, ...scope });
  const workflow = await addWorkflow(service, {
    steps: [step({ name: 'a', agent, ...withText('x') })],
  });
  await endOfRun(service, workflow, await startRun(service, workflow, key));
  const windows = await windowsOf(service.db, budgetId);
  assert.deepEqual(
    windows.map(({ bucket, calls }) => [bucket, calls]),
    [[apiKeyId, 1]],
  );
});
