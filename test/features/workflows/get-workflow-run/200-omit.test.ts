import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { createClient } from '../../../../src/client/index.ts';
import { fromId } from '../../../../src/core/id.ts';
import type { Trx } from '../../../../src/db/database.ts';
import { inSnapshot } from '../../../../src/db/in-snapshot.ts';
import { type Sql, sql } from '../../../../src/db/sql.ts';
import { findVisibleRun } from '../../../../src/features/workflows/statements/workflow-history.ts';
import {
  runColumns,
  runColumnsWithoutBodies,
} from '../../../../src/features/workflows/statements/workflow-runs.ts';

/** Clients that poll read a workflow run without its input and output. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const { path, workflowId } = await makeWorkflow(service, greeting(agent.agentId));
const name = randomBytes(30_000).toString('base64');
const started = await service.call('POST', `${path}/execute`, { key, body: { input: { name } } });
const { workflowRunId, statusUrl } = started.body;
const { body: whole } = await service.call('GET', `${statusUrl}?wait=30`, { key });

test('everything except input and output is returned', async () => {
  const { status, body } = await service.call('GET', `${statusUrl}?omit=bodies&wait=1`, { key });
  assert.equal(status, 200);
  const { input, output, ...rest } = whole;
  assert.deepEqual(input, { name });
  assert.match(output, /^Hello /);
  assert.deepEqual(body, rest);
});

test('no other value is allowed', async () => {
  const { status, body } = await service.call('GET', `${statusUrl}?omit=all`, { key });
  assert.equal(status, 400);
  assert.match(body.message, /omit.*bodies/);
});

test('the client supports it', async () => {
  const cueline = createClient({ baseURL: service.url, key });
  const run = await cueline.workflows.status(workflowId, workflowRunId, { omit: 'bodies' });
  assert.ok(!('input' in run) && !('output' in run));
  assert.deepEqual((await cueline.workflows.status(workflowId, workflowRunId)).input, { name });
});

test('omitted long bodies are not read, nor for a page of items', async () => {
  const workflow = fromId('workflow', workflowId) ?? '';
  const id = fromId('workflowRun', workflowRunId) ?? '';
  const viewer = {
    workspaceId: service.workspaceId,
    userId: null,
    role: 'owner',
    allAgents: true,
    agentIds: [],
  } as const;
  const read = (columns: Sql) => (trx: Trx) =>
    sql`select ${columns} from workflow_runs r join workflow_versions v on v.id = r.workflow_version_id
      where r.id = ${id}`.execute(trx);
  assert.ok((await looksApart(read(runColumns))) > 0);
  assert.equal(await looksApart(read(runColumnsWithoutBodies)), 0);
  const seen = (trx: Trx) => findVisibleRun(trx, viewer, { workflowId: workflow, id });
  assert.equal((await inSnapshot(service.db, seen))?.id, id);
  assert.equal(await looksApart(seen), 0);
});

/** Number of reads from the TOAST table of workflow runs. */
function looksApart(work: (trx: Trx) => Promise<unknown>): Promise<number> {
  return inSnapshot(service.db, async (trx) => {
    // Counted per connection, which may have earlier reads.
    const before = await countLooks(trx);
    await work(trx);
    return (await countLooks(trx)) - before;
  });
}

async function countLooks(trx: Trx): Promise<number> {
  const { rows } = await sql<{ looks: number }>`
    select coalesce(sum(idx_scan), 0)::int as looks from pg_stat_xact_all_tables
    where relid = (select reltoastrelid from pg_class where oid = 'workflow_runs'::regclass)`.execute(
    trx,
  );
  return rows[0]?.looks ?? 0;
}
