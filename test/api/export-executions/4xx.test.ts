import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService({ config: { listPerMinute: 40 } });
after(service.close);
const agent = await addAgent(service);
const paths = [`${agent.path}/executions/export`, '/api/v1/executions/export'];

test('400 for an unknown parameter or value', async () => {
  const { key } = await service.key();
  const wrong: [string, RegExp][] = [
    ['format=xml', /format.*jsonl, csv/],
    ['limit=10', /Unknown parameter "limit"/],
    ['status=done', /status.*success/],
    ['cursor=nothing', /cursor/],
    ['latencyMsMin=10&latencyMsMax=9', /latencyMsMin.*latencyMsMax/],
    ['costUSDMin=10&costUSDMax=9', /costUSDMin.*costUSDMax/],
  ];
  for (const path of paths) {
    for (const [query, message] of wrong) {
      const { status, body } = await service.call('GET', `${path}?${query}`, { key });
      assert.equal(status, 400);
      assert.match(body.message, message);
    }
  }
});

test('401 without a valid key, 403 without the permission', async () => {
  const { key } = await service.key({ permissions: ['execute'] });
  for (const path of paths) {
    assert.equal((await service.call('GET', path)).status, 401);
    assert.equal((await service.call('GET', path, { key })).status, 403);
  }
});

test('404 for an agent that the caller cannot see', async () => {
  const other = await addAgent(service);
  const { key } = await service.key({ agentIds: [other.agentId] });
  assert.equal((await service.call('GET', paths[0] ?? '', { key })).status, 404);
});

test('429 above the limit of list calls', async () => {
  const { key } = await service.key();
  const statuses: number[] = [];
  // The requests span at most two minutes.
  for (let call = 0; call < 81; call++) {
    statuses.push((await service.call('GET', `${paths[1]}?status=done`, { key })).status);
  }
  assert.ok(statuses.includes(429));
});
