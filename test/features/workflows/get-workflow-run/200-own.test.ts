import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';

/** A key without `read` sees the result of its workflow runs, not their input. */

const service = await startService();
after(service.close);
const { key: reader } = await service.key();
const agent = await addAgent(service, { system: 'Secret.', user: 'Hello {{name}}' });
const { path } = await makeWorkflow(service, greeting(agent.agentId));

for (const allowedOrigins of [[], ['https://a.example']]) {
  const what = allowedOrigins.length === 0 ? 'with execute alone' : 'for browsers';
  test(`a key ${what} sees neither the input nor who executed it, nor those of the steps`, async () => {
    const { key } = await service.key({ permissions: ['execute'], allowedOrigins });
    const body = { input: { name: 'you' } };
    const { body: started } = await service.call('POST', `${path}/execute`, { key, body });
    const { body: run } = await service.call('GET', `${started.statusUrl}?wait=60`, { key });
    const { body: whole } = await service.call('GET', started.statusUrl, { key: reader });
    const { input, executedBy, ...rest } = whole;
    assert.deepEqual(input, { name: 'you' });
    assert.ok(executedBy);
    assert.deepEqual(run, rest);
    assert.deepEqual([run.status, run.output], ['success', 'Hello you']);

    const { executionId } = run.steps[0];
    const at = `/api/v1/agents/${agent.agentId}/executions/${executionId}`;
    const { body: step } = await service.call('GET', at, { key });
    assert.equal(step.output, 'Hello you');
    for (const name of ['inputVariables', 'systemPrompt', 'userPrompt', 'executedBy']) {
      assert.ok(!(name in step), name);
    }
    assert.equal('costUSD' in step, allowedOrigins.length === 0);
    const items = `${started.statusUrl}/steps/greet/items`;
    assert.equal((await service.call('GET', items, { key })).status, 200);
  });
}

test('a key with execute alone sees errors of steps without their details', async () => {
  const { key } = await service.key({ permissions: ['execute'] });
  const error = 'Could not reach the provider: connect ECONNREFUSED 10.0.0.7:11434';
  service.models.script(new ModelFailure('PROVIDER_ERROR', error, { retryable: false }));
  const body = { input: { name: 'you' } };
  const { body: started } = await service.call('POST', `${path}/execute`, { key, body });
  const { body: run } = await service.call('GET', `${started.statusUrl}?wait=60`, { key });
  assert.deepEqual(
    [run.error, run.steps[0].error],
    ['Step "greet" failed: Could not reach the provider.', 'Could not reach the provider.'],
  );
  const { body: whole } = await service.call('GET', started.statusUrl, { key: reader });
  assert.equal(whole.steps[0].error, error);
});
