import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/workflows';
const agent = await addAgent(service);
const { key } = await service.key();

function create(definition: object, caller: { key: string } | { user: string } = { key }) {
  return service.call('POST', path, { ...caller, body: { name: 'W', definition } });
}

test('400 with all problems, each naming its step', async () => {
  const paused = await addAgent(service, { stage: 'Paused', user: 'x' });
  const { status, body } = await create({
    steps: [
      { name: 'a', agentId: agent.agentId },
      { name: 'b', agentId: paused.agentId, after: ['c'] },
      { name: 'c', agentId: 'agt_nothing', after: ['b'] },
    ],
  });
  assert.deepEqual([status, body.code], [400, 'INVALID_WORKFLOW']);
  assert.equal(
    body.message,
    'Step "a": The agent "Agent" requires variables that are not set: name. (and 3 more)',
  );
  assert.deepEqual(
    body.problems.map((one: { step: string; path: string }) => [one.step, one.path]),
    [
      ['a', 'steps.0.variables'],
      ['b', 'steps.1.agentId'],
      ['c', 'steps.2.agentId'],
      ['b', 'steps.1'],
    ],
  );
});

test('an agent that the author cannot see is unknown', async () => {
  const hidden = await addAgent(service, { visibility: 'private' });
  const user = await service.member('editor');
  const { status, body } = await create(greeting(hidden.agentId), { user });
  assert.deepEqual([status, body.problems.length], [400, 1]);
  assert.match(body.problems[0].message, /^There is no agent agt_/);
  assert.equal((await create(greeting(hidden.agentId))).status, 201);
});

test('409 for a name that is taken, until its workflow is deleted', async () => {
  const definition = greeting(agent.agentId);
  const taken = await makeWorkflow(service, definition, { name: 'Taken' });
  const again = { key, body: { name: 'Taken', definition } };
  const refused = await service.call('POST', path, again);
  assert.deepEqual([refused.status, refused.body.code], [409, 'CONFLICT']);
  await service.call('DELETE', taken.path, { key });
  assert.equal((await service.call('POST', path, again)).status, 201);
});
