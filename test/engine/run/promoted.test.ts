import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../harness/agents.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { failedAttempt } from '../../../harness/models.ts';
import { addWorkspace } from '../../../harness/people.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { queueExecutions } from '../../../harness/records.ts';
import { startService } from '../../../harness/service.ts';
import {
  nothingSpent,
  type QueuedExecution,
} from '../../../src/core/execution/queued-execution.ts';
import { sql } from '../../../src/db/sql.ts';
import { grantFreeSlots } from '../../../src/engine/complete/completion.ts';
import {
  claimExecutions,
  promoteDelayed,
  releaseExecutions,
} from '../../../src/engine/run/queue.ts';
import { registerWorker } from '../../../src/engine/run/workers.ts';

/** The claim order of retries and freed agent slots next to the backlog of another workspace. */

const service = await startService({ role: 'api' });
const { db, workspaceId: big } = service;
const pipelines = testPipelines(service.database.connection);
after(async () => {
  await pipelines.close();
  await service.close();
});
const { workspaceId: other, ownerId } = await addWorkspace(db);
const othersAgent = await addAgent(service, { workspaceId: other, createdBy: ownerId });
const worker = freshId();
await pipelines.use((send) => registerWorker(send, worker, 3_600_000));

const backlog = 400;
const atOnce = 6;

beforeEach(() => sql`delete from execution_queue`.execute(db));

/** Queued executions with consecutive tags, as if accepted in one batch. */
async function queue(agent: TestAgent, count: number, hasSlot: boolean | null = null) {
  await queueExecutions(
    db,
    sql`
    select (left(${freshId()}, 24) || lpad(to_hex(n), 12, '0'))::uuid as id, a.workspace_id, a.id as agent_id, n as tag,
      ${hasSlot}::bool as has_slot
    from agents a, generate_series(1, ${count}::int) as n where a.id = ${agent.id}`,
    ['has_slot'],
  );
}

/** Claims repeatedly and counts per workspace. `then` ends or releases the executions of the big workspace. */
async function starts(rounds: number, then: (runs: QueuedExecution[]) => Promise<unknown>) {
  const counts = { big: 0, other: 0 };
  for (let round = 0; round < rounds; round++) {
    const { executions: runs } = await claimExecutions(db, worker, {
      limit: atOnce,
      bytesMax: Infinity,
      fromTag: 0,
    });
    const ofBig = runs.filter(({ workspaceId }) => workspaceId === big);
    counts.big += ofBig.length;
    counts.other += runs.length - ofBig.length;
    await end(runs.filter((run) => !ofBig.includes(run)));
    await then(ofBig);
    await promoteDelayed(db, { withinMs: null, fromTag: 0 });
  }
  return counts;
}

const end = (runs: QueuedExecution[]) =>
  sql`delete from execution_queue where id = any (${runs.map(({ id }) => id)}::uuid[])`.execute(db);

const fail = (runs: QueuedExecution[]) =>
  releaseExecutions(
    db,
    runs.map(({ id, attempt }) => ({
      ...{
        id,
        worker,
        attempt,
        delayMs: 0,
        failed: failedAttempt,
        rejected: false,
        mismatch: null,
        fallback: null,
        waitCode: null,
        unstarted: false,
        spent: nothingSpent,
      },
    })),
  );

/** Ends them, and the agent grants their slots to others. */
async function endOf(agent: TestAgent, runs: QueuedExecution[]) {
  await end(runs);
  await pipelines.use((send) => send(grantFreeSlots, [agent.id]));
}

test('a workspace whose executions all fail starts at most twice as many as another one', async () => {
  await queue(await addAgent(service), backlog);
  await queue(othersAgent, backlog);
  const counts = await starts(60, fail);
  assert.ok(counts.big <= 2 * counts.other + atOnce, JSON.stringify(counts));
  assert.ok(counts.other <= counts.big + atOnce, JSON.stringify(counts));
});

test('a workspace whose agent grants freed slots starts as many as another one', async () => {
  const agent = await addAgent(service, { config: { maxConcurrency: 50 } });
  await queue(agent, 50, true);
  await queue(agent, backlog, false);
  await queue(othersAgent, backlog);
  const counts = await starts(60, (runs) => endOf(agent, runs));
  assert.ok(Math.abs(counts.big - counts.other) <= atOnce, JSON.stringify(counts));
});

test('an execution with a granted slot does not wait behind other agents of its workspace', async () => {
  const agent = await addAgent(service, { config: { maxConcurrency: 1 } });
  await queue(agent, 1, true);
  await queue(agent, 20, false);
  await queue(await addAgent(service), backlog);
  let ofAgent = 0;
  await starts(30, (runs) => {
    ofAgent += runs.filter(({ agentId }) => agentId === agent.id).length;
    return endOf(agent, runs);
  });
  assert.equal(ofAgent, 21);
});
