import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure, noCost, noUsage } from '../../../../src/core/model/model-port.ts';

/** A workflow run shows the first 100 items of each step and their number; a list returns all of them. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { config: { maxAttempts: 1 } });
const { path } = await makeWorkflow(service, {
  input: { required: ['names'] },
  steps: [
    {
      name: 'each',
      agentId: agent.agentId,
      forEach: { list: '{{input.names}}', concurrency: 100, max: 1_000 },
      variables: { name: '{{item}}' },
      onFailure: 'continue',
    },
    { name: 'last', agentId: agent.agentId, variables: { name: 'x' }, after: ['each'] },
  ],
});

const count = 130;

async function start(names: readonly string[], by = key) {
  const body = { input: { names } };
  const started = await service.call('POST', `${path}/execute`, { key: by, body });
  assert.equal(started.status, 202);
  return started.body.statusUrl as string;
}

service.models.script(
  new ModelFailure('PROVIDER_AUTH', 'No.', { retryable: false, usage: noUsage, cost: noCost }),
);
const statusUrl = await start(Array.from({ length: count }, (_, n) => `n${n}`));
const { body: run } = await service.call('GET', `${statusUrl}?wait=60`, { key });
assert.equal(run.status, 'success');

const list = (query = '', step = 'each', by = key) =>
  service.call('GET', `${statusUrl}/steps/${step}/items${query}`, { key: by });
const placesOf = ({ body }: { body: { items: { item: number }[] } }) =>
  body.items.map(({ item }) => item);
const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, n) => from + n);

test('a workflow run shows the first 100 items, and how many started and ended', () => {
  const [each, last] = run.steps;
  assert.deepEqual([each.itemCount, each.itemsBegun, each.itemsEnded], [count, count, count]);
  assert.deepEqual(placesOf({ body: each }), upTo(100));
  for (const field of ['itemCount', 'itemsBegun', 'itemsEnded', 'items']) {
    assert.ok(!(field in last), field);
  }
});

test('items are listed in pages, in order and as in the workflow run', async () => {
  const first = await list('?limit=100');
  assert.deepEqual(placesOf(first), upTo(100));
  assert.deepEqual(first.body.items, run.steps[0].items);
  assert.deepEqual(first.body.pagination, { limit: 100, offset: 0, total: count, hasMore: true });
  const second = await list('?limit=100&offset=100');
  assert.deepEqual(placesOf(second), upTo(count, 100));
  assert.equal(second.body.pagination.hasMore, false);
});

test('by status', async () => {
  const failed = await list('?status=failed');
  assert.equal(failed.body.pagination.total, 1);
  assert.equal(failed.body.items[0].errorCode, 'PROVIDER_AUTH');
  assert.equal((await list('?status=success')).body.pagination.total, count - 1);
});

test('while processing, only started items', async () => {
  const heldCall = service.models.hold();
  const { key: own } = await service.key({ permissions: ['execute'] });
  const at = await start(['only'], own);
  await heldCall.arrived;
  const { body } = await service.call('GET', at, { key: own });
  const [each] = body.steps;
  assert.deepEqual([each.itemCount, each.itemsBegun, each.itemsEnded], [1, 1, 0]);
  // A key without read can list the items of the runs it started.
  const items = await service.call('GET', `${at}/steps/each/items`, { key: own });
  assert.deepEqual(placesOf(items), [0]);
  assert.equal((await list('', 'each', own)).status, 404);
  heldCall.release();
  await service.call('GET', `${at}?wait=30`, { key: own });
});

test('a step without a list has no items; 404 and 400 for an unknown step, run or parameter', async () => {
  assert.equal((await list('', 'last')).body.pagination.total, 0);
  assert.equal((await list('', 'none')).status, 404);
  const elsewhere = `${path}/runs/wfr_none/steps/each/items`;
  assert.equal((await service.call('GET', elsewhere, { key })).status, 404);
  for (const query of ['?status=none', '?limit=101', '?x=1']) {
    assert.equal((await list(query)).status, 400, query);
  }
});
