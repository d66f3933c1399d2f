import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';
import { foldLabels } from '../../../../src/engine/complete/label-changes.ts';

// Labels may also be folded by the service's own round, at any time.
const service = await startService({ config: { listPerMinute: 10_000 } });
after(service.close);
const { key } = await service.key();
const agents = [await addAgent(service, { user: 'A' }), await addAgent(service, { user: 'B' })];

type Record_ = Record<string, unknown> & {
  readonly agentId: string;
  readonly executionId: string;
  readonly tags?: string[];
  readonly metadata?: Record<string, string>;
};

async function execute(n: number): Promise<void> {
  const agent = agents[n % 5 === 0 ? 1 : 0];
  if (n % 6 === 0) service.models.script(new ModelFailure('PROVIDER_AUTH', 'no'));
  const { body } = await service.call('POST', `${agent?.path}/execute`, {
    key,
    body: {
      variables: {},
      ...(n % 2 === 0 && { user: `u${n % 3}` }),
      ...(n % 3 === 0 && { session: `s${n % 4}` }),
      ...(n % 4 !== 0 && { tags: n % 3 === 0 ? ['odd', 'even'] : ['odd'] }),
      ...(n % 5 !== 0 && { metadata: { plan: n % 2 === 0 ? 'pro' : 'free', '': 'x' } }),
    },
  });
  await ended(service, body.statusUrl, key);
}

for (let n = 0; n < 36; n++) await execute(n);

const filters: Record<string, string | undefined>[] = [
  { user: 'u0' },
  { user: 'u2', tag: 'odd' },
  { user: 'u0', 'metadata.plan': 'pro', status: 'success' },
  { user: 'nobody' },
  { session: 's0' },
  { session: 's3', user: 'u0' },
  { session: 's2', status: 'failed' },
  { tag: 'odd' },
  { tag: 'even' },
  { tag: 'none' },
  { tag: 'odd', status: 'failed' },
  { tag: 'odd', errorCode: 'PROVIDER_AUTH' },
  { 'metadata.plan': 'pro' },
  { 'metadata.plan': 'free', source: 'api' },
  { 'metadata.other': 'pro' },
  { 'metadata.': 'x' },
  { tag: 'odd', 'metadata.plan': 'free' },
  { tag: 'even', 'metadata.plan': 'pro', 'metadata.': 'x' },
  { tag: 'odd', latencyMsMin: '0' },
  { user: 'u0', latencyMsMin: '0' },
];

function matches(record: Record_, filter: Record<string, string | undefined>): boolean {
  return Object.entries(filter).every(([name, value]) => {
    if (name === 'tag') return record.tags?.includes(value ?? '') ?? false;
    if (name.startsWith('metadata.')) return record.metadata?.[name.slice(9)] === value;
    return name === 'latencyMsMin' || record[name] === value;
  });
}

async function list(path: string, query: object) {
  const text = new URLSearchParams(query as Record<string, string>);
  const { status, body } = await service.call('GET', `${path}?${text}`, { key });
  assert.equal(status, 200);
  return body;
}

const ids = (records: readonly Record_[]) => records.map((one) => one.executionId);

async function check(): Promise<void> {
  const all: Record_[] = (await list('/api/v1/executions', { limit: 100 })).executions;
  for (const filter of filters) {
    for (const agent of [null, ...agents]) {
      const path = agent === null ? '/api/v1/executions' : `${agent.path}/executions`;
      const expected = all.filter(
        (one) => (agent === null || one.agentId === agent.agentId) && matches(one, filter),
      );
      const name = `${JSON.stringify(filter)} of ${agent?.agentId}`;
      const { executions, pagination, totalIsLowerBound } = await list(path, {
        ...filter,
        limit: 3,
      });
      assert.deepEqual(ids(executions), ids(expected.slice(0, 3)), name);
      assert.equal(pagination.total, expected.length, name);
      assert.equal(totalIsLowerBound, undefined, name);
      const rest = await list(path, { ...filter, offset: 2, limit: 100 });
      assert.deepEqual(ids(rest.executions), ids(expected.slice(2)), name);
    }
  }
}

test('lists and counts exactly, before and after labels are folded', async () => {
  await check();
  while ((await foldLabels(service.db, 10)) > 0);
  await check();
});

test('an export has the same filters', async () => {
  const all: Record_[] = (await list('/api/v1/executions', { limit: 100 })).executions;
  for (const filter of filters) {
    const query = new URLSearchParams(filter as Record<string, string>);
    const response = await fetch(`${service.url}/api/v1/executions/export?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const lines = (await response.text()).split('\n').slice(0, -1);
    const expected = all.filter((one) => matches(one, filter));
    assert.deepEqual(ids(lines.map((line) => JSON.parse(line))), ids(expected));
  }
});

test('a deleted record is no longer counted', async () => {
  const { executions, pagination } = await list('/api/v1/executions', { tag: 'odd' });
  const [{ agentId, executionId }] = executions;
  const path = `/api/v1/agents/${agentId}/executions/${executionId}`;
  assert.equal((await service.call('DELETE', path, { key })).status, 204);
  const rest = await list('/api/v1/executions', { tag: 'odd' });
  assert.equal(rest.pagination.total, pagination.total - 1);
  await check();
  await foldLabels(service.db, 1_000);
  await check();
});

test('executions that have not ended are listed on request', async () => {
  const held = service.models.hold();
  const { body } = await service.call('POST', `${agents[0]?.path}/execute`, {
    key,
    body: {
      variables: {},
      user: 'live',
      session: 'live',
      tags: ['live'],
      metadata: { live: 'yes' },
    },
  });
  for (const filter of [
    { user: 'live' },
    { session: 'live' },
    { tag: 'live' },
    { 'metadata.live': 'yes' },
  ]) {
    const shown = await list('/api/v1/executions', { ...filter, include: 'processing' });
    assert.deepEqual([ids(shown.executions), shown.pagination.total], [[body.executionId], 1]);
    const records = await list('/api/v1/executions', filter);
    assert.equal(records.pagination.total, 0);
  }
  held.release();
  await ended(service, body.statusUrl, key);
});

test('rejects filters that no label can match', async () => {
  for (const query of [
    'tag=',
    `user=${'u'.repeat(129)}`,
    `metadata.n=${'x'.repeat(513)}`,
    'metadata=x',
  ]) {
    const { status } = await service.call('GET', `/api/v1/executions?${query}`, { key });
    assert.equal(status, 400, query);
  }
});
