import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const marked: string[] = [];

for (const marks of [{}, { playground: true }, { playground: true, tags: ['x'] }]) {
  const body = { variables: { name: 'you' }, ...marks };
  const accepted = await service.call('POST', `${agent.path}/execute`, { key, body });
  const record = await ended(service, accepted.body.statusUrl, key);
  if (record.playground) marked.push(record.executionId);
}

/** The counts by value of a grouping, or under the empty name. */
async function counts(groupBy: string, query = ''): Promise<Record<string, number>> {
  const found = await Promise.all(
    [`${agent.path}/statistics`, '/api/v1/statistics'].map(async (path) => {
      const text = `level=all&totals=true&groupBy=${groupBy}${query}`;
      const { status, body } = await service.call('GET', `${path}?${text}`, { key });
      assert.equal(status, 200, JSON.stringify(body));
      const of = (buckets: { count: number; [name: string]: unknown }[]) =>
        Object.fromEntries(buckets.map((one) => [String(one[groupBy] ?? ''), one.count]));
      assert.deepEqual(of(body.totals), of(body.buckets));
      return of(body.buckets);
    }),
  );
  assert.deepEqual(found[1], found[0]);
  return found[0] ?? {};
}

test('statistics leave marked executions out, unless they are asked for them', async () => {
  assert.deepEqual(await counts('none'), { '': 1 });
  assert.deepEqual(await counts('none', '&playground=false'), { '': 1 });
  assert.deepEqual(await counts('none', '&playground=true'), { '': 2 });
  assert.deepEqual(await counts('none', '&playground=true,false'), { '': 3 });
});

test('their source is that of the call, in one group with the others', async () => {
  assert.deepEqual(await counts('source', '&playground=true,false'), { api: 3 });
  assert.deepEqual(await counts('source', '&playground=true'), { api: 2 });
});

test('also by model and tag', async () => {
  assert.deepEqual(await counts('model'), { 'cueline/echo': 1 });
  assert.deepEqual(await counts('tag', '&playground=true'), { x: 1, '': 1 });
  assert.deepEqual(await counts('tag'), { '': 1 });
});

test('400 for another value', async () => {
  const path = `${agent.path}/statistics?playground=yes`;
  const { status, body } = await service.call('GET', path, { key });
  assert.equal(status, 400);
  assert.match(body.message, /"playground".*true.*false/);
});

test('a deleted one is no longer recorded, but still counted', async () => {
  const path = `${agent.path}/executions/${marked[0]}`;
  assert.equal((await service.call('DELETE', path, { key })).status, 204);
  const statistics = `${agent.path}/statistics?level=all&groupBy=none&playground=true`;
  const { body } = await service.call('GET', statistics, { key });
  assert.deepEqual([body.buckets[0].count, body.buckets[0].recorded], [2, 1]);
});
