import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent, ended, run } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { addWorkflow, endOfRun, startRun, step } from '../../../harness/workflow-runs.ts';
import { fromId } from '../../../src/core/id.ts';
import { ModelFailure, noCost, noUsage } from '../../../src/core/model/model-port.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';

/** The history is append-only: whatever ends an execution, its record is inserted once and not touched again. */

const failure = (retryable: boolean) =>
  new ModelFailure('PROVIDER_ERROR', 'No.', { retryable, usage: noUsage, cost: noCost });

test('no execution updates or deletes a record, however it ends', async (t) => {
  const queueing = await startService({ role: 'api' });
  t.after(queueing.close);
  const { db, database } = queueing;
  const { key } = await queueing.key();
  const agent = await addAgent(queueing);

  // Accepted before a worker starts: a lost worker and a deadline.
  const accept = async () => {
    const call = { key, body: { variables: { name: 'you' } } };
    return String((await queueing.call('POST', `${agent.path}/execute`, call)).body.statusUrl);
  };
  const idOf = (statusUrl: string) => fromId('execution', statusUrl.split('/').at(-1) ?? '');
  const [lost, late, unstarted] = [await accept(), await accept(), await accept()];
  await sql`update execution_queue set losses = 9 where id = ${idOf(lost)}`.execute(db);
  await sql`
    update execution_queue set started_at = clock_timestamp() - interval '1 day' where id = ${idOf(late)}`.execute(
    db,
  );
  assert.equal((await queueing.call('POST', `${unstarted}/cancel`, { key })).status, 200);

  const service = await startService({ sharedWith: queueing });
  const codes = [(await ended(service, lost, key)).errorCode];
  codes.push((await ended(service, late, key)).errorCode);
  assert.deepEqual(codes, ['WORKER_LOST', 'MODEL_TIMEOUT']);

  assert.equal((await run(service, agent, key)).status, 'success');
  service.models.script(failure(true));
  assert.equal((await run(service, agent, key)).attempts, 2);
  service.models.script(failure(false));
  assert.equal((await run(service, agent, key)).status, 'failed');

  const bare = await addAgent(service, { config: { maxConcurrency: 1 } });
  await sql`update agents set store_bodies = false where id = ${bare.id}`.execute(db);
  const bareCalls = await Promise.all([1, 2, 3].map(() => run(service, bare, key)));
  assert.ok(bareCalls.every(({ output }) => output === 'Hello you'));

  const held = service.models.hold();
  const running = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { name: 'you' }, user: 'u', tags: ['t'] } },
  });
  await held.arrived;
  const canceled = await service.call('POST', `${running.body.statusUrl}/cancel`, { key });
  assert.equal(canceled.status, 200);

  const paused = await addAgent(service, { stage: 'Paused' });
  const refused = await service.call('POST', `${paused.path}/execute`, {
    ...{ key, body: { variables: { name: 'you' } } },
  });
  assert.equal(refused.status, 403);

  const plain = await addAgent(service, { user: 'x' });
  const workflow = await addWorkflow(service, {
    steps: [step({ name: 'a', agent: plain }), step({ name: 'b', agent: plain, after: ['a'] })],
  });
  const { run: workflowRun } = await endOfRun(
    service,
    workflow,
    await startRun(service, workflow, key),
  );
  assert.equal(workflowRun.status, 'success');

  // A session reports its counts at its end at the latest.
  await service.close();
  const own = openDatabase({ connection: database.connection, poolMax: 1, onError: () => {} });
  t.after(() => own.destroy());
  const records = 13;
  assert.deepEqual(await changesOf(own, records), { inserted: records, updated: 0, deleted: 0 });
  const { rows } = await sql<{ statuses: Record<string, number> }>`
    select json_object_agg(status, count) as statuses from (
      select status::text, count(*) from executions group by 1) as one`.execute(own);
  assert.deepEqual(JSON.parse(String(rows[0]?.statuses)), {
    ...{ success: 7, failed: 3, canceled: 2, unauthorized: 1 },
  });
});

/** The changes of the tables of the history, once `expected` insertions are reported. */
async function changesOf(db: ReturnType<typeof openDatabase>, expected: number) {
  for (;;) {
    const { rows } = await sql<{ inserted: number; updated: number; deleted: number }>`
      select sum(n_tup_ins)::int as inserted, sum(n_tup_upd)::int as updated, sum(n_tup_del)::int as deleted
      from pg_stat_user_tables where relname ~ '^executions(_|$)'`.execute(db);
    if ((rows[0]?.inserted ?? 0) >= expected) return rows[0];
    await wait(50);
  }
}
