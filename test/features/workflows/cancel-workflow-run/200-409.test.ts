import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { user: 'Hi' });

test('a key without read sees no bodies of what another key started', async () => {
  const { path } = await makeWorkflow(service, {
    steps: [{ name: 'first', agentId: agent.agentId }],
  });
  const heldCall = service.models.hold();
  const input = { name: 'x' };
  const { body } = await service.call('POST', `${path}/execute`, { key, body: { input } });
  await heldCall.arrived;
  const { key: other } = await service.key({ permissions: ['cancel'] });
  const canceled = await service.call('POST', `${body.statusUrl}/cancel`, { key: other });
  assert.deepEqual([canceled.body.status, canceled.body.input], ['canceled', undefined]);
  assert.ok(!('executedBy' in canceled.body));
  assert.deepEqual((await service.call('GET', body.statusUrl, { key })).body.input, input);
  heldCall.release();
});

test('running steps are aborted, and waiting steps never start', async () => {
  const { path } = await makeWorkflow(service, {
    steps: [
      { name: 'first', agentId: agent.agentId },
      { name: 'second', agentId: agent.agentId, after: ['first'] },
    ],
  });
  const heldCall = service.models.hold();
  const { body } = await service.call('POST', `${path}/execute`, { key, body: { input: {} } });
  await heldCall.arrived;
  const canceled = await service.call('POST', `${body.statusUrl}/cancel`, { key });
  assert.deepEqual([canceled.status, canceled.body.status], [200, 'canceled']);
  heldCall.release();
  assert.deepEqual(
    canceled.body.steps.map((one: { name: string }) => one.name),
    ['first', 'second'],
  );
  assert.equal(canceled.body.steps[1].status, 'canceled');
  const again = await service.call('POST', `${body.statusUrl}/cancel`, { key });
  assert.deepEqual([again.status, again.body.code], [409, 'ALREADY_ENDED']);
});
