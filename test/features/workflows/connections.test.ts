import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { addWorkflow, endOfRun, startRun, step } from '../../../harness/workflow-runs.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { db } = service;

/** Connections of one process with API and worker, including the test's pool of 5 and its own query. */
const connectionsMax = 5 + 10 + 3 + 3 + 2 + 1 + 1;

test('hundreds of refused steps do not take a connection each', async () => {
  const paused = await addAgent(service, { stage: 'Paused' });
  const workflow = await addWorkflow(service, { steps: [step({ name: 'only', agent: paused })] });
  const { key } = await service.key({ rateLimits: { requestsPerMinute: 1_000 } });
  const runIds = await Promise.all(
    Array.from({ length: 120 }, () => startRun(service, workflow, key)),
  );
  const ends = await Promise.all(runIds.map((runId) => endOfRun(service, workflow, runId)));
  assert.deepEqual(new Set(ends.map(({ run }) => run.status)), new Set(['failed']));
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'`.execute(db);
  assert.ok((rows[0]?.open ?? 0) <= connectionsMax, `${rows[0]?.open} connections are open`);
});
