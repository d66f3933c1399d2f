import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);

async function validate(definition: unknown) {
  const body = { definition };
  const response = await service.call('POST', '/api/v1/workflows/validate', { key, body });
  assert.equal(response.status, 200);
  return response.body;
}

test('a valid definition is returned with defaults, and nothing is saved', async () => {
  const { problems, definition } = await validate(greeting(agent.agentId));
  assert.deepEqual(problems, []);
  assert.equal(definition.timeoutMs, 3_600_000);
  const { body } = await service.call('GET', '/api/v1/workflows', { key });
  assert.equal(body.pagination.total, 0);
});

test('a schema error is reported with its path', async () => {
  const steps = [{ name: 'a', agentId: 7 }, { name: 'b c', agentId: agent.agentId }, 'x'];
  const { problems } = await validate({ steps, more: 1 });
  const places = problems.map((one: { step: string; path: string }) => [one.path, one.step]);
  for (const place of [
    ['steps.0.agentId', 'a'],
    ['steps.1.name', 'b c'],
    ['steps.2', null],
    ['', null],
  ]) {
    assert.ok(
      places.some((one: unknown[]) => one[0] === place[0] && one[1] === place[1]),
      `${place} in ${JSON.stringify(problems)}`,
    );
  }
  for (const odd of [null, 1, 'x', []]) {
    assert.equal((await validate(odd)).problems.length > 0, true);
  }
});

test('an inconsistency is reported', async () => {
  const definition = { ...greeting(agent.agentId), output: '{{steps.none.output}}' };
  assert.deepEqual((await validate(definition)).problems, [
    { step: null, path: 'output', message: 'There is no step "none".' },
  ]);
});
