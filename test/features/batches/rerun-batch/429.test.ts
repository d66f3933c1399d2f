import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ config: { managePerMinute: 2 } });
after(service.close);

test('429 above the limit of management calls, before the batch is read', async () => {
  const { key } = await service.key();
  const agent = await addAgent(service);
  const path = `${agent.path}/batches/bat_nonsense/rerun`;
  const statuses = [];
  // Five requests span at most two minutes.
  for (let call = 0; call < 5; call++) {
    statuses.push((await service.call('POST', path, { key })).status);
  }
  assert.ok(statuses.includes(404) && statuses.includes(429), String(statuses));
});
