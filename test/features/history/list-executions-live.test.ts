import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { firstHundred } from '../../../harness/history.ts';
import { scriptedModels } from '../../../harness/models.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { startService } from '../../../harness/service.ts';
import { toId } from '../../../src/core/id.ts';
import type { ModelCall } from '../../../src/core/model/model-port.ts';
import { inSnapshot } from '../../../src/db/in-snapshot.ts';
import { sql } from '../../../src/db/sql.ts';
import { matchesFilter } from '../../../src/features/history/statements/history-filter.ts';
import { readPage } from '../../../src/features/history/verbs/list-executions.ts';
import { rollupRound } from '../../../src/features/history/verbs/retention-round.ts';

/** A model whose executions end only by a cancel, and one that responds at once. */
const longModel = 'cueline/long';
const quick = scriptedModels();
const service = await startService({
  models: {
    call: (call, emit) => (call.model === longModel ? untilAborted(call) : quick.call(call, emit)),
  },
});
after(service.close);
/** At any time of day, more than half of the calls fall into one day. */
const { key } = await service.key({ rateLimits: { requestsPerDay: 40 } });
const clients = 6;
const callsOfOne = 25;
/** A minimum: some records of each status must remain. */
const deletions = 10;

test('total and rows agree in every snapshot while executions are accepted, refused, canceled, ended and deleted', async () => {
  const short = await addAgent(service);
  const long = await addAgent(service, { model: longModel });
  const agentIds = [short.id, long.id];
  let remaining = clients;
  let deleting = true;
  const reads = Array.from({ length: 2 }, async () => {
    for (let looks = 0; deleting || looks < 20; looks++) await look(agentIds, looks);
  });
  const deleted = deleteRecords(agentIds, () => remaining === 0).finally(() => {
    deleting = false;
  });
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let call = 0; call < callsOfOne; call++) {
        const { path } = call % 3 === 0 ? long : short;
        const body = { variables: { name: `${client} ${call}` } };
        const accepted = await service.call('POST', `${path}/execute`, { key, body });
        if (accepted.status === 202 && path === long.path) {
          await service.call('POST', `${accepted.body.statusUrl}/cancel`, { key });
        }
      }
      remaining--;
    }),
  );
  await Promise.all([...reads, deleted]);
  const statuses = await sql<{ status: string }>`
    select distinct status::text as status from executions where agent_id = any(${agentIds})`.execute(
    service.db,
  );
  const seen = statuses.rows.map(({ status }) => status);
  for (const status of ['success', 'canceled', 'rate_limited'])
    assert.ok(seen.includes(status), status);
});

/** Deletes records one by one, with maintenance rounds in between, until the other work is done. */
async function deleteRecords(agentIds: readonly string[], over: () => boolean): Promise<void> {
  for (let deleted = 0; deleted < deletions || !over(); ) {
    const { rows } = await sql<{ id: string; agentId: string }>`
      select id, agent_id from (
        select id, agent_id, row_number() over (partition by status order by id) as place
        from executions where agent_id = any(${agentIds})) as e
      where place > 2 order by random() limit 1`.execute(service.db);
    for (const { id, agentId } of rows) {
      const path = `/api/v1/agents/${toId('agent', agentId)}/executions/${toId('execution', id)}`;
      const { status } = await service.call('DELETE', path, { user: service.ownerId });
      assert.equal(status, 204);
      if (deleted++ % 5 === 0) await makeRounds();
    }
  }
}

async function makeRounds(): Promise<void> {
  const { db, database } = service;
  await runRetentionRound(db, database);
  const { connection } = database;
  const pipelines = testPipelines(connection);
  try {
    await rollupRound({ db, pipelines, signal: new AbortController().signal, rest: 0 });
  } finally {
    await pipelines.close();
  }
}

async function look(agentIds: readonly string[], turn: number): Promise<void> {
  const statuses = [
    null,
    ['success'],
    ['canceled', 'failed'],
    ['rate_limited'],
    ['processing'],
  ] as const;
  const status = statuses[turn % statuses.length] ?? null;
  const isLive = status === null ? turn % 2 === 0 : status[0] === 'processing';
  const request = {
    ...firstHundred(turn % 7 === 0 ? agentIds.slice(1) : agentIds),
    status,
    source: turn % 6 === 0 ? ['api' as const] : null,
    model: turn % 3 === 0 ? ['cueline/echo'] : null,
    includeProcessing: isLive,
    offset: turn % 50,
  };
  await inSnapshot(service.db, async (trx) => {
    const { rows, total } = await readPage(trx, request);
    const { rows: plain } = await sql<{ id: string }>`
      select e.id from ${request.includeProcessing ? sql`all_executions` : sql`executions`} e
      where e.agent_id = any(${request.agentIds}) and ${matchesFilter(request)}
      order by e.id desc`.execute(trx);
    assert.equal(total, plain.length);
    assert.deepEqual(
      rows.map(({ id }) => id),
      plain.slice(request.offset, request.offset + request.limit).map(({ id }) => id),
    );
  });
}

function untilAborted({ signal }: ModelCall): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
