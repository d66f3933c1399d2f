import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../../harness/database.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { failedAttempt } from '../../../harness/models.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { queueExecutions } from '../../../harness/records.ts';
import { nothingSpent, unknownSpent } from '../../../src/core/execution/queued-execution.ts';
import { uuid7 } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  claimForOtherWorkspaces as claimForOthersFrom,
  claimExecutions as claimRunsFrom,
  promoteDelayed as promoteDelayedWithin,
  queueDepth,
  type Release,
  releaseExecutions,
  writeCallBound,
} from '../../../src/engine/run/queue.ts';
import { heartbeat, registerWorker, sweepWorkers } from '../../../src/engine/run/workers.ts';

/** The statements of the queue: claim, fence, sweep, fairness. SQL changes the leases, so no test waits for them. */

const { connection, db, close } = await openTestDatabase();
const pipelines = testPipelines(connection);
after(async () => {
  await pipelines.close();
  await close();
});

const leaseMs = 60_000;
const workspace = uuid7(1);
const bytesMax = Infinity;
const failed = {
  failed: failedAttempt,
  rejected: false,
  mismatch: null,
  fallback: null,
  waitCode: null,
  unstarted: false,
  spent: nothingSpent,
};
const first = '00000000-0000-0000-0000-000000000000';

async function worker(): Promise<string> {
  const id = freshId();
  await pipelines.use((send) => registerWorker(send, id, leaseMs));
  return id;
}

async function queue(
  options: { workspaceId?: string; tag?: number; losses?: number } = {},
): Promise<string> {
  const id = freshId();
  const workspaceId = options.workspaceId ?? workspace;
  await queueExecutions(
    db,
    sql`select ${id}::uuid as id, ${workspaceId}::uuid as workspace_id, ${workspaceId}::uuid as agent_id,
      ${options.tag ?? 1}::bigint as tag`,
  );
  return id;
}

async function claimExecutions(process: string, limit: number, fromTag = 0) {
  return (await claimRunsFrom(db, process, { limit, bytesMax, fromTag })).executions;
}

function claimForOtherWorkspaces(process: string, excluded: string[], fromTag = 0) {
  return claimForOthersFrom(db, process, { excluded, after: first, limit: 5, bytesMax, fromTag });
}

function promoteDelayed(withinMs: number | null = null) {
  return promoteDelayedWithin(db, { withinMs, fromTag: 0 });
}

async function clear(): Promise<void> {
  await sql`delete from execution_queue`.execute(db);
  await sql`delete from workers`.execute(db);
}

async function expire(id: string): Promise<void> {
  await sql`update workers set lease_until = clock_timestamp() - interval '1 hour' where id = ${id}`.execute(
    db,
  );
}

async function row(id: string) {
  const { rows } = await sql<{
    worker: string | null;
    attempt: number;
    losses: number;
    failures: number;
    delayed: boolean;
  }>`
    select worker, attempt, losses, failures, available_at is not null as delayed from execution_queue where id = ${id}`.execute(
    db,
  );
  return rows[0];
}

test('concurrent claims never return an execution twice', async () => {
  await clear();
  const ids = await Promise.all(Array.from({ length: 40 }, (_, tag) => queue({ tag })));
  const workers = await Promise.all([worker(), worker(), worker(), worker()]);
  const claimed = (
    await Promise.all(workers.flatMap((id) => [claimExecutions(id, 7), claimExecutions(id, 7)]))
  ).flat();
  assert.equal(claimed.length, 40);
  assert.deepEqual(claimed.map(({ id }) => id).sort(), [...ids].sort());
  assert.ok(claimed.every(({ attempt }) => attempt === 1));
});

test('a process with a lost or expired lease claims nothing', async () => {
  await clear();
  await queue();
  const id = await worker();
  await expire(id);
  assert.deepEqual(await claimExecutions(id, 1), []);
  assert.deepEqual(await claimExecutions(uuid7(1), 1), []);
});

test('a sweep frees only the executions of expired workers, and counts a loss', async () => {
  await clear();
  const [dead, alive] = [await worker(), await worker()];
  const [lost, kept] = [await queue({ tag: 1 }), await queue({ tag: 2 })];
  assert.equal((await claimExecutions(dead, 1))[0]?.id, lost);
  assert.equal((await claimExecutions(alive, 1))[0]?.id, kept);
  await expire(dead);
  assert.equal(await sweepWorkers(db, first, 1), 1);
  assert.deepEqual(await row(lost), {
    worker: null,
    attempt: 1,
    losses: 1,
    failures: 0,
    delayed: true,
  });
  assert.equal((await row(kept))?.worker, alive);
  assert.equal(await pipelines.use((send) => heartbeat(send, dead, leaseMs)), null);
  assert.deepEqual(await pipelines.use((send) => heartbeat(send, alive, leaseMs)), []);
});

test('a call that was lost with its worker, or whose cost is unknown, counts with its bound', async () => {
  await clear();
  const id = await queue();
  const spentOf = async (process: string) => {
    const [claimed] = await claimExecutions(process, 1);
    assert.ok(claimed?.id === id);
    return claimed;
  };
  const dead = await worker();
  const lost = await spentOf(dead);
  assert.deepEqual([lost.spentUsd, lost.callBoundUsd], ['0', null]);
  assert.ok(await writeCallBound(db, lost, '0.25'));
  await expire(dead);
  assert.equal(await sweepWorkers(db, first, 1), 1);
  assert.equal(await writeCallBound(db, lost, '9'), false);
  await promoteDelayed();
  const alive = await worker();
  const again = await spentOf(alive);
  assert.deepEqual([again.spentUsd, again.callBoundUsd], ['0.25', '0.25']);
  const spent = { ...nothingSpent, costUsd: '0.01', keptUsd: '0.5', costKnown: false };
  await releaseExecutions(db, [{ ...again, ...failed, delayMs: 0, spent }]);
  await promoteDelayed();
  assert.equal((await spentOf(alive)).spentUsd, '0.76');
});

test('a process whose machine slept does not sweep itself', async () => {
  await clear();
  const own = await worker();
  const id = await queue();
  await claimExecutions(own, 1);
  await expire(own);
  assert.equal(await sweepWorkers(db, own, 1), 0);
  assert.equal((await row(id))?.worker, own);
  assert.deepEqual(await pipelines.use((send) => heartbeat(send, own, leaseMs)), []);
});

test('a paused process with locks blocks the sweep of its own executions only', async () => {
  await clear();
  const [stopped, dead] = [await worker(), await worker()];
  const [locked, lost] = [await queue({ tag: 1 }), await queue({ tag: 2 })];
  await claimExecutions(stopped, 1);
  await claimExecutions(dead, 1);
  await expire(stopped);
  await expire(dead);
  await db.transaction(async (trx) => {
    await sql`select from execution_queue where id = ${locked} for update`.execute(trx);
    assert.equal(await sweepWorkers(db, first, 1), 1);
    assert.equal((await row(lost))?.worker, null);
    assert.equal((await row(locked))?.worker, stopped);
  });
  assert.equal(await sweepWorkers(db, first, 1), 1);
  assert.equal((await row(locked))?.losses, 1);
});

test('after a database start no lease counts as expired before its process could renew', async () => {
  await clear();
  const id = await worker();
  await queue();
  await claimExecutions(id, 1);
  await expire(id);
  const dayMs = 86_400_000;
  assert.equal(await sweepWorkers(db, first, dayMs * 365), 0);
  assert.equal(await sweepWorkers(db, first, 1), 1);
});

test('the fence: a worker that lost an execution cannot release it', async () => {
  await clear();
  const id = await queue();
  const [old, next] = [await worker(), await worker()];
  await claimExecutions(old, 1);
  await expire(old);
  await sweepWorkers(db, first, 1);
  await promoteDelayed();
  const [claimed] = await claimExecutions(next, 1);
  assert.equal(claimed?.attempt, 2);
  await releaseExecutions(db, [{ id, worker: old, attempt: 1, delayMs: 0, ...failed }]);
  await releaseExecutions(db, [{ id, worker: next, attempt: 1, delayMs: 0, ...failed }]);
  assert.deepEqual(await row(id), {
    worker: next,
    attempt: 2,
    losses: 1,
    failures: 0,
    delayed: false,
  });
  await releaseExecutions(db, [{ id, worker: next, attempt: 2, delayMs: 0, ...failed }]);
  assert.deepEqual(await row(id), {
    worker: null,
    attempt: 2,
    losses: 1,
    failures: 1,
    delayed: true,
  });
});

test('a claim marks the execution as called, and an unstarted release resets it', async () => {
  await clear();
  const id = await queue();
  const process = await worker();
  /** Claims and releases it: whether the claim reported it as called, and whether it counts as started now. */
  async function round(more: Partial<Release>): Promise<[called?: boolean, begun?: boolean]> {
    await sql`update execution_queue set available_at = null`.execute(db);
    const { attempt = 0, called } = (await claimExecutions(process, 1))[0] ?? {};
    const back = { ...failed, failed: null, ...more };
    await releaseExecutions(db, [{ id, worker: process, attempt, delayMs: 0, ...back }]);
    const { rows } = await sql<{ begun: boolean }>`
      select started_at is not null as begun from execution_queue`.execute(db);
    return [called, rows[0]?.begun];
  }
  assert.deepEqual(await round({}), [false, true]);
  assert.deepEqual(await round({ unstarted: true }), [false, false]);
  assert.deepEqual(await round({ spent: unknownSpent }), [false, true]);
  assert.deepEqual(await round({}), [true, true]);
  await sql`update execution_queue set spent_known = true`.execute(db);
  assert.deepEqual(await round({ rejected: true }), [false, true]);
  assert.deepEqual(await round({}), [true, true]);
});

test('a rejection counts as no failure, and the next claim knows why it waited', async () => {
  await clear();
  const id = await queue();
  const process = await worker();
  const claimNow = async () => {
    await sql`update execution_queue set available_at = null`.execute(db);
    return (await claimExecutions(process, 1))[0];
  };
  const waitCode = 'PROVIDER_RATE_LIMITED' as const;
  const rejected = { ...failed, id, worker: process, delayMs: 0, failed: null, rejected: true };
  await claimNow();
  await releaseExecutions(db, [{ ...rejected, attempt: 1, waitCode }]);
  const { failures, rejections, waitCode: known } = (await claimNow()) ?? {};
  assert.deepEqual([failures, rejections, known], [0, 1, waitCode]);
  await releaseExecutions(db, [{ ...rejected, attempt: 2, ...failed }]);
  const after = await claimNow();
  assert.deepEqual([after?.failures, after?.rejections, after?.waitCode], [1, 1, null]);
});

test('a delayed execution is not claimed early, and precedes the backlog of its workspace', async () => {
  await clear();
  const early = await queue({ tag: 10 });
  const id = await queue({ tag: 20 });
  const late = await queue({ tag: 40 });
  const process = await worker();
  await sql`update execution_queue set available_at = clock_timestamp() + interval '1 hour', attempt = 1 where id = ${id}`.execute(
    db,
  );
  await promoteDelayed();
  assert.equal((await claimExecutions(process, 1))[0]?.id, early);
  await sql`update execution_queue set available_at = clock_timestamp() where id = ${id}`.execute(
    db,
  );
  await queue({ tag: 29 });
  assert.equal(await promoteDelayed(), 1);
  const order = (await claimExecutions(process, 2)).map((one) => one.id);
  assert.ok(order.includes(id) && !order.includes(late));
});

test('reserved slots serve workspaces without a slot in turn, past any backlog', async () => {
  await clear();
  const [a, b, c] = [uuid7(1_000), uuid7(2_000), uuid7(3_000)];
  for (let tag = 0; tag < 50; tag++) await queue({ workspaceId: a, tag });
  const [ofB, ofC] = [
    await queue({ workspaceId: b, tag: 900 }),
    await queue({ workspaceId: c, tag: 800 }),
  ];
  const process = await worker();
  const found = await claimForOtherWorkspaces(process, [a]);
  assert.deepEqual(found.map(({ id }) => id).sort(), [ofB, ofC].sort());
  assert.deepEqual(await claimForOtherWorkspaces(process, [a]), []);
  const again = await claimForOtherWorkspaces(process, [b]);
  assert.equal(again.length, 1);
  assert.equal(again[0]?.workspaceId, a);
});

test('queueDepth returns the depth and the age of the oldest ready execution', async () => {
  await clear();
  assert.deepEqual(await queueDepth(db), { depth: 0, oldestMs: 0 });
  const id = await queue();
  await queue();
  await sql`update execution_queue set executed_at = clock_timestamp() - interval '1 hour' where id = ${id}`.execute(
    db,
  );
  const { depth, oldestMs } = await queueDepth(db);
  assert.equal(depth, 2);
  assert.ok(oldestMs >= 3_600_000);
});

test('a claim takes executions until their inputs are long enough, and at least one', async () => {
  await clear();
  const process = await worker();
  const ids = [await queue({ tag: 1 }), await queue({ tag: 2 }), await queue({ tag: 3 })];
  await sql`update execution_queue set input_variables = ${JSON.stringify({ x: 'é'.repeat(500) })}`.execute(
    db,
  );
  const claim = async (bytes: number) => {
    const request = { limit: 5, bytesMax: bytes, fromTag: 0 };
    const { executions } = await claimRunsFrom(db, process, request);
    return executions.map(({ id, inputBytes }) => ({ id, inputBytes }));
  };
  const [first] = await claim(1);
  assert.equal(first?.id, ids[0]);
  const { inputBytes = 0 } = first ?? {};
  assert.ok(inputBytes >= 2_000 && inputBytes < 3_000, `${inputBytes}`);
  const rest = await claim(inputBytes + 1);
  assert.deepEqual(
    rest.map(({ id }) => id),
    ids.slice(1),
  );
});

test('a claim with a tag bound takes nothing below it, and returns the lowest tag', async () => {
  await clear();
  const process = await worker();
  const [low, high] = [await queue({ tag: 10 }), await queue({ tag: 20 })];
  const claimed = await claimRunsFrom(db, process, { limit: 5, bytesMax, fromTag: 15 });
  assert.deepEqual(
    claimed.executions.map(({ id }) => id),
    [high],
  );
  assert.equal(claimed.lowestTag, 20);
  assert.equal((await claimExecutions(process, 5))[0]?.id, low);
  // An empty queue: virtual time of the clock, in microseconds.
  const { lowestTag } = await claimRunsFrom(db, process, { limit: 5, bytesMax, fromTag: 0 });
  assert.ok((lowestTag ?? 0) > 1e15);
  // Without a lease nothing is read.
  const unasked = await claimRunsFrom(db, uuid7(1), { limit: 5, bytesMax, fromTag: 0 });
  assert.equal(unasked.lowestTag, null);
});

test('only a full scan promotes executions that were due long ago', async () => {
  await clear();
  const late = await queue();
  await sql`update execution_queue set available_at = clock_timestamp() - interval '1 hour'`.execute(
    db,
  );
  assert.equal(await promoteDelayed(60_000), 0);
  assert.equal(await promoteDelayed(), 1);
  assert.equal((await claimExecutions(await worker(), 1))[0]?.id, late);
});
