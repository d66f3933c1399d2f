import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';

/** Executions of workflow steps among others: their own fields and filters. */

const service = await startService();
after(service.close);
const { key, apiKeyId } = await service.key();
const [agent, other] = [await addAgent(service), await addAgent(service)];
const { path, workflowId } = await makeWorkflow(service, {
  input: { required: ['names'] },
  steps: [
    {
      name: 'each',
      agentId: agent.agentId,
      forEach: { list: '{{input.names}}' },
      variables: { name: '{{item}}' },
    },
    { name: 'last', agentId: other.agentId, variables: { name: 'all' }, after: ['each'] },
  ],
});
const alone = await run(service, agent, key);
const { body: started } = await service.call('POST', `${path}/execute`, {
  key,
  body: { input: { names: ['a', 'b'] } },
});
const { workflowRunId } = started;
const ended = await service.call('GET', `${started.statusUrl}?wait=30`, { key });
assert.equal(ended.body.status, 'success');
const [each, last] = ended.body.steps;

async function listed(at: string, query = '') {
  const { status, body } = await service.call('GET', `${at}${query}`, { key });
  assert.equal(status, 200);
  return {
    total: body.pagination.total,
    ids: body.executions.map((one: { executionId: string }) => one.executionId).toSorted(),
    rows: body.executions as Record<string, unknown>[],
  };
}

test('the record of a step names its workflow run, step and workflow; the run names its key', async () => {
  for (const { executionId } of each.items) {
    const at = `${agent.path}/executions/${executionId}`;
    const { body } = await service.call('GET', at, { key });
    assert.deepEqual(
      [body.source, body.workflowRunId, body.stepName, body.workflowId, body.apiKeyId],
      ['workflow', workflowRunId, 'each', workflowId, undefined],
    );
  }
  assert.equal(ended.body.apiKeyId, apiKeyId);
  const { body } = await service.call('GET', `${other.path}/executions/${last.executionId}`, {
    key,
  });
  assert.deepEqual([body.workflowRunId, body.stepName], [workflowRunId, 'last']);
});

test('lists show workflow run and step, and filter by source', async () => {
  const ofItems = each.items.map((one: { executionId: string }) => one.executionId);
  const steps = await listed(`${agent.path}/executions`, '?source=workflow');
  assert.equal(steps.total, 2);
  assert.deepEqual(steps.ids, ofItems.toSorted());
  for (const row of steps.rows) {
    assert.deepEqual(
      [row.source, row.workflowRunId, row.stepName],
      ['workflow', workflowRunId, 'each'],
    );
    assert.ok(!('workflowId' in row));
  }
  const everywhere = await listed('/api/v1/executions', '?source=workflow');
  assert.equal(everywhere.total, 3);
  assert.deepEqual(everywhere.ids, [...ofItems, last.executionId].toSorted());
  const all = await listed(`${agent.path}/executions`);
  assert.equal(all.total, 3);
});

test('an execution that a key started directly has neither', async () => {
  const api = await listed(`${agent.path}/executions`, '?source=api');
  assert.deepEqual(api.ids, [alone.executionId]);
  for (const row of [...api.rows, alone]) {
    assert.ok(!('workflowRunId' in row) && !('stepName' in row) && !('workflowId' in row));
  }
});

test('an export shows workflow run and step', async () => {
  const at = `${agent.path}/executions/export?format=jsonl&source=workflow`;
  const response = await fetch(service.url + at, { headers: { authorization: `Bearer ${key}` } });
  const lines = (await response.text()).trim().split('\n');
  const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    rows.map((row) => [row.workflowRunId, row.stepName]),
    [
      [workflowRunId, 'each'],
      [workflowRunId, 'each'],
    ],
  );
});
