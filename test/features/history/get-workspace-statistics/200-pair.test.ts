import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure, noCost } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';
import { tooLarge } from '../../../../src/features/history/routes/statistics-query.ts';
import {
  readStatistics,
  type StatisticsRead,
} from '../../../../src/features/history/statements/read-statistics.ts';

/** A user and a tag together are added up from the records of the user. */

const service = await startService();
after(service.close);
const { key, apiKeyId } = await service.key();
const agent = await addAgent(service, { config: { maxAttempts: 1 } });
const hidden = await addAgent(service, { visibility: 'private', model: 'cueline/echo?tokens=7' });

async function record(of: { readonly path: string }, labels: object, by = key) {
  const body = { variables: { name: 'x' }, ...labels };
  const { body: accepted } = await service.call('POST', `${of.path}/execute`, { key: by, body });
  await ended(service, accepted.statusUrl, by);
}

await record(agent, { user: 'ada', tags: ['all', 'red'] });
await record(agent, { user: 'ada', tags: ['all'] });
await record(hidden, { user: 'ada', tags: ['all', 'red'] });
service.models.script(new ModelFailure('PROVIDER_AUTH', 'no', { cost: noCost }));
await record(agent, { user: 'ada', tags: ['all', 'red'] });
await record(agent, { user: 'bob', tags: ['all', 'red'] });
await record(agent, { user: 'ada-2', tags: ['red'] });
const elsewhere = await service.workspace();
const there = { workspaceId: elsewhere.workspaceId, ownerId: elsewhere.ownerId };
const foreign = await service.key({ workspaceId: there.workspaceId, userId: there.ownerId });
await record(
  await addAgent({ ...service, ...there }),
  { user: 'ada', tags: ['all', 'red'] },
  foreign.key,
);

type Caller = Parameters<typeof service.call>[2];

async function buckets(query: string, caller: Caller = { key }, path = '/api/v1') {
  const { status, body } = await service.call('GET', `${path}/statistics?${query}`, caller);
  assert.equal(status, 200, JSON.stringify(body));
  return body.buckets;
}

test('all records of the user have the figures that the statistics count for the user', async () => {
  for (const path of ['/api/v1', agent.path]) {
    for (const groupBy of ['none', 'status,source', 'model', 'version,key', 'errorCode']) {
      for (const level of ['all', 'day', 'hour']) {
        const query = `level=${level}&groupBy=${groupBy}&user=ada`;
        const ofUser = await buckets(query, { key }, path);
        assert.ok(ofUser.length > 0);
        assert.deepEqual(await buckets(`${query}&tag=all`, { key }, path), ofUser, query);
      }
    }
  }
});

test('it counts who has both, combined with the other filters and what the caller sees', async () => {
  const count = async (query: string, caller?: Caller) => {
    const [bucket] = await buckets(`level=all&groupBy=none&${query}`, caller);
    return bucket?.count ?? 0;
  };
  const user = await service.member('viewer');
  assert.equal(await count('user=ada&tag=red'), 3);
  assert.equal(await count('user=ada&tag=red', { user }), 2);
  assert.equal(await count('user=ada&tag=red', { key: foreign.key }), 1);
  assert.equal(await count(`user=ada&tag=red&agentIds=${hidden.agentId}`), 1);
  assert.equal(await count(`user=ada&tag=red&apiKeyId=${apiKeyId}`), 3);
  assert.equal(await count('user=ada&tag=red&model=cueline/echo'), 2);
  assert.equal(await count('user=ada&tag=red&playground=true'), 0);
  assert.equal(await count('user=ada&tag=blue'), 0);
  assert.equal(await count('user=bob&tag=red&startDate=2026-01-01&endDate=2026-01-02'), 0);
  await sql`update history_floor set at = clock_timestamp() + interval '1 hour'`.execute(
    service.db,
  );
  assert.equal(await count('user=ada&tag=red'), 0);
  await sql`update history_floor set at = 'epoch'`.execute(service.db);
});

test('more records of the user than are read are refused, whatever their tags', async () => {
  const nowMs = Date.now();
  const dayMs = 86_400_000;
  const request = (rowsMax: number): StatisticsRead => ({
    of: { agentId: agent.id },
    ...{ playground: false, by: [], byLabel: null, spans: [], table: 'breakdown' },
    only: { model: null, apiKeyId: null, user: 'ada', tag: 'red' },
    bounds: [nowMs - dayMs, nowMs + dayMs],
    ...{ rowsMax, groupsMax: 10 },
  });
  const [group] = await readStatistics(service.db, request(4));
  assert.equal(typeof group === 'object' && group.occurred, 2);
  assert.equal(await readStatistics(service.db, request(3)), 'too many rows');
  const { message } = tooLarge('too many rows', request(3));
  assert.match(
    message,
    /user has more than 3 records .* Narrow "startDate" and "endDate", or leave/,
  );
});
