import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

/** What is kept is for owners: a key needs the permission `own`, which only keys of the whole workspace can have. */

const service = await startService();
after(service.close);

const owners: [what: string, body: object][] = [
  ['lower the retention', { retention: { recordsDays: 1 } }],
  ['raise the retention', { retention: { recordsDays: 36_500 } }],
  ['change how long bodies are kept', { retention: { bodiesDays: 1 } }],
  ['enable the storage of bodies', { storeBodies: true }],
];
for (const [what, body] of owners) {
  test(`403 for a key without "own" that would ${what}, even if an owner issued it`, async () => {
    const agent = await addAgent(service);
    const admin = await service.key();
    const before = { storeBodies: false, retention: { recordsDays: 30, bodiesDays: 10 } };
    const set = await service.call('PATCH', agent.path, { key: admin.key, body: before });
    assert.equal(set.status, 200);
    const tied = await service.key({ agentIds: [agent.agentId] });
    const manages = await service.key({ permissions: ['execute', 'read', 'cancel', 'manage'] });
    for (const { key } of [tied, manages]) {
      const response = await service.call('PATCH', agent.path, { key, body });
      assert.deepEqual([response.status, response.body.code], [403, 'PERMISSION_DENIED']);
    }
    const { body: agentNow } = await service.call('GET', agent.path, { key: admin.key });
    assert.deepEqual({ ...agentNow, ...before }, agentNow);
    const both = await service.key({ permissions: ['manage', 'own'] });
    assert.equal((await service.call('PATCH', agent.path, { key: both.key, body })).status, 200);
  });
}
