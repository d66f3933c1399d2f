import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { untilBlocked } from '../../../../harness/locks.ts';
import { addRecords } from '../../../../harness/records.ts';
import { startService } from '../../../../harness/service.ts';
import { readClock } from '../../../../src/db/clock.ts';
import { sql } from '../../../../src/db/sql.ts';
import { searchesMax } from '../../../../src/http/contract/contract-limits.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { db } = service;
const searches = 10;
/** All but a tenth, at least one. */
const searchesOfWorkspace = searchesMax - 1;

test('while one viewer runs ten heavy searches, another workspace gets its responses', async () => {
  const agent = await addAgent(service);
  const { workspaceId } = service;
  const atMs = await readClock(db);
  // The searches find it: they would not read another one, and so not be blocked.
  const variables = JSON.stringify({ topic: 'tide' });
  await addRecords(db, [{ workspaceId, agentId: agent.id, atMs: atMs - 1_000, variables }]);
  const viewer = await service.signIn();
  const other = await service.workspace();
  const otherAgent = await addAgent(service, { ...other, createdBy: other.ownerId });
  const { key } = await service.key({ ...other, userId: other.ownerId });
  const finishSearches = await blockReadsOf(agent.id);

  const path = `${agent.path}/executions?q=tide`;
  const pending = Array.from({ length: searches }, () =>
    service.call('GET', path, { cookie: viewer.cookie }),
  );
  await untilBlocked(db, searchesOfWorkspace);

  const { cookie } = await service.signIn({ userId: other.ownerId });
  const list = `${otherAgent.path}/executions`;
  const calls = [
    service.call('GET', '/api/v1/me', { cookie }),
    service.call('GET', '/readyz'),
    service.call('POST', `${otherAgent.path}/execute`, { key, body: { variables: { name: 'x' } } }),
    ...Array.from({ length: 4 }, () => service.call('GET', `${list}?q=tide`, { key })),
    service.call('GET', `${otherAgent.path}/statistics`, { cookie }),
    // The same viewer also gets what is not a list.
    service.call('GET', '/api/v1/me', { cookie: viewer.cookie }),
  ];
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 202, 200, 200, 200, 200, 200, 200]);

  const rejected = await firstSettled(pending, searches - searchesOfWorkspace);
  for (const { status, headers, body } of rejected) {
    assert.deepEqual([status, body.code], [503, 'UNAVAILABLE']);
    assert.ok(Number(headers.get('retry-after')) >= 1);
  }
  await finishSearches();
  const ended = (await Promise.all(pending)).filter(({ status }) => status === 200);
  assert.equal(ended.length, searchesOfWorkspace);
  assert.equal((await service.call('GET', path, { cookie: viewer.cookie })).status, 200);
  // Each rejection logs a warning.
  service.faults.splice(0);
});

/** Blocks every read of this agent's records until the returned function is called. */
async function blockReadsOf(agentId: string): Promise<() => Promise<void>> {
  const lock = await db.begin('read committed');
  await sql`select pg_advisory_xact_lock(1)`.execute(lock);
  await sql`
    create function pass(agent uuid) returns boolean cost 1000000 language plpgsql as ${sql.lit(`begin
      if agent = '${agentId}' then perform pg_advisory_xact_lock_shared(1); end if;
      return true;
    end`)}`.execute(db);
  await sql`alter table executions rename to stored_executions`.execute(db);
  await sql`create view executions as select * from stored_executions where pass(agent_id)`.execute(
    db,
  );
  return async () => {
    await lock.rollback();
  };
}

/** The results of the `count` promises that settle first. */
function firstSettled<T>(promises: readonly Promise<T>[], count: number): Promise<T[]> {
  return new Promise((resolve, reject) => {
    const results: T[] = [];
    for (const promise of promises) {
      promise.then((result) => {
        if (results.push(result) === count) resolve(results.slice());
      }, reject);
    }
  });
}
