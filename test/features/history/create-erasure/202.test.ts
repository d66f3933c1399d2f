import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { testPipelines } from '../../../../harness/pipelines.ts';
import { addRecords, miscounted, remainingIds } from '../../../../harness/records.ts';
import { runRetentionRound } from '../../../../harness/retention-round.ts';
import { startService } from '../../../../harness/service.ts';
import { everything } from '../../../../src/core/history/history-range.ts';
import { fromId, uuid7 } from '../../../../src/core/id.ts';
import { readClock } from '../../../../src/db/clock.ts';
import { sql } from '../../../../src/db/sql.ts';
import type { RunPaced } from '../../../../src/engine/transaction/paced-transactions.ts';
import {
  type ErasureScan,
  insertErasure,
  scanForErasure,
} from '../../../../src/features/history/statements/erasures.ts';
import { workErasures } from '../../../../src/features/history/verbs/erase.ts';

const service = await startService();
after(service.close);
const { db, call, workspaceId, models } = service;
const user = await service.member('owner');
const path = '/api/v1/erasures';
const round = () => runRetentionRound(db, service.database);

async function erased(body: object) {
  const accepted = await call('POST', path, { user, body });
  assert.equal(accepted.status, 202);
  assert.equal(accepted.body.status, 'processing');
  const at = `${path}/${accepted.body.erasureId}`;
  assert.equal(accepted.headers.get('location'), at);
  await round();
  return (await call('GET', at, { user })).body;
}

test('values are compared in the form that the prompt contains', async () => {
  const { id: agentId } = await addAgent(service);
  const texts = [
    '{"customer":"42"}',
    '{"customer":42}',
    '{"customer":"042"}',
    '{"customer":42.0}',
    '{"other":"42"}',
    '{"customer":null}',
    '{"customer":["a",1]}',
    '{"customer":"[\\"a\\",1]"}',
    '{"customer":["a", 1,2]}',
    '{"customer":["\\u0061",1]}',
    '{"customer":true}',
  ];
  const atMs = Date.now();
  const ids = await addRecords(
    db,
    texts.map((variables, n) => ({ workspaceId, agentId, atMs: atMs - 1_000 - n, variables })),
  );
  const but = (...gone: number[]) => ids.filter((_, n) => !gone.includes(n));

  const numbers = await erased({ variable: 'customer', value: '42' });
  assert.equal(numbers.status, 'completed');
  assert.equal(numbers.deleted, 2);
  assert.deepEqual(await remainingIds(db, ids), but(0, 1));
  await erased({ variable: 'customer', value: '["a",1]' });
  assert.deepEqual(await remainingIds(db, ids), but(0, 1, 6, 7, 9));
  await erased({ variable: 'customer', value: 'true' });
  assert.deepEqual(await remainingIds(db, ids), but(0, 1, 6, 7, 9, 10));
  assert.deepEqual(await miscounted(db), []);
});

test('each value of a repeated variable is compared', async () => {
  const { id: agentId } = await addAgent(service);
  const texts = [
    '{"customer":"c-first","customer":"c-last"}',
    '{"customer":["c",  "\\u0031"],"customer":["c", "\\u0031"],"customer":null}',
    '{"customer":"c-other","customer":"c-last"}',
  ];
  const atMs = Date.now() - 1_000;
  const ids = await addRecords(
    db,
    texts.map((variables, n) => ({ workspaceId, agentId, atMs: atMs - n, variables })),
  );
  assert.equal((await erased({ variable: 'customer', value: 'c-first' })).deleted, 1);
  assert.deepEqual(await remainingIds(db, ids), ids.slice(1));
  assert.equal((await erased({ variable: 'customer', value: '["c","1"]' })).deleted, 1);
  assert.deepEqual(await remainingIds(db, ids), ids.slice(2));
});

test('many similar texts are compared in small batches', async () => {
  const { id: agentId } = await addAgent(service);
  const blanks = ' '.repeat(300_000);
  const value = '{"x":"a \\n"}';
  const atMs = Date.now() - 1_000;
  const objects = [
    ...Array.from(
      { length: 30 },
      (_, n) => `{"x":${blanks}"a ${n % 10 === 9 ? '\\u000a' : '\\t'}"}`,
    ),
    `{"x":${blanks}"a n"}`,
    `{"x":${blanks}"an"}`,
  ];
  const ids = await addRecords(
    db,
    objects.map((object, n) => ({
      workspaceId,
      agentId,
      atMs: atMs - n,
      variables: `{"customer": ${object}}`,
    })),
  );
  const looks: ErasureScan[] = [];
  let downTo: string | null = everything.toId;
  while (downTo !== null) {
    const erasure = {
      id: '',
      workspaceId,
      agentId,
      variable: 'customer',
      value,
      requestedBy: null,
    };
    const look: ErasureScan = await scanForErasure(db, { ...erasure, downTo }, 2_000);
    looks.push(look);
    downTo = look.downTo;
  }
  for (const { found } of looks) {
    assert.ok(found.reduce((sum, { text }) => sum + (text?.length ?? 0), 0) < 5_000_000);
  }
  assert.deepEqual(
    looks.flatMap(({ found }) => found.map(({ id }) => id)).toSorted(),
    ids.slice(0, 30).toSorted(),
  );
  await erased({ variable: 'customer', value });
  assert.deepEqual(
    await remainingIds(db, ids),
    ids.filter((_, n) => n % 10 !== 9),
  );
});

test('a batch contains few records with long variables', async () => {
  const { id: agentId } = await addAgent(service);
  const elsewhere = await service.workspace();
  const theirs = await addAgent({ db, ...elsewhere });
  const atMs = Date.now() - 1_000;
  const long = Array.from({ length: 12 }, (_, n) => ({
    ...{ workspaceId, agentId, atMs: atMs - 2 * n },
    variables: JSON.stringify({
      customer: 'c-long',
      noise: randomBytes(750_000).toString('base64'),
    }),
  }));
  const ids = await addRecords(db, [
    ...long,
    ...long.map((one) => ({
      ...one,
      ...{ workspaceId: elsewhere.workspaceId, agentId: theirs.id, atMs: one.atMs - 1 },
    })),
  ]);
  const erasure = { id: '', workspaceId, variable: 'customer', value: 'c-long', requestedBy: null };
  for (const agent of [agentId, null]) {
    const looks: ErasureScan[] = [];
    let downTo = everything.toId;
    while (looks.at(-1)?.downTo !== null) {
      looks.push(await scanForErasure(db, { ...erasure, agentId: agent, downTo }, 2_000));
      downTo = looks.at(-1)?.downTo ?? downTo;
    }
    assert.deepEqual(
      looks.flatMap(({ found }) => found.map(({ id }) => id)),
      ids.slice(0, 12),
    );
    assert.ok(looks.every(({ found }) => found.length <= 5));
    assert.ok(looks.length <= 5);
  }
});

test('the newest records of many agents are scanned first, and none is skipped', async () => {
  const { workspaceId: own, ownerId } = await service.workspace();
  const agents = await Promise.all(
    Array.from({ length: 40 }, () => addAgent({ db, workspaceId: own, ownerId })),
  );
  const atMs = Date.now() - 1_000;
  const records = agents.flatMap(({ id: agentId }, n) =>
    Array.from({ length: n === 0 ? 60 : 2 }, (_, nth) => ({
      ...{ workspaceId: own, agentId, atMs: atMs - (n === 0 ? nth : 10 * n + 100 * nth) },
    })),
  );
  const ids = await addRecords(db, records);
  const erasure = { id: '', workspaceId: own, agentId: null, variable: 'customer', value: 'c1' };
  const found: string[][] = [];
  for (let downTo: string | null = everything.toId; downTo !== null; ) {
    const look: ErasureScan = await scanForErasure(
      db,
      { ...erasure, requestedBy: null, downTo },
      10,
    );
    found.push(look.found.map(({ id }) => id).toSorted());
    downTo = look.downTo;
  }
  const newestFirst = ids.toSorted().reverse();
  const starts = Array.from({ length: 15 }, (_, page) => page * 10);
  assert.deepEqual(
    found,
    starts.map((from) => newestFirst.slice(from, from + 10).toSorted()),
  );
});

test('workspaces alternate, however many erasures one of them requests', async () => {
  const elsewhere = await service.workspace();
  const theirs = await addAgent({
    db,
    workspaceId: elsewhere.workspaceId,
    ownerId: elsewhere.ownerId,
  });
  const { id: agentId } = await addAgent(service);
  const atMs = Date.now() - 1_000;
  await addRecords(db, [
    { workspaceId, agentId, atMs },
    { workspaceId: elsewhere.workspaceId, agentId: theirs.id, atMs },
  ]);
  const none = { label: null, labelName: null };
  const request = { ...none, variable: 'customer', value: 'c-turns', agentId: null };
  for (const whose of [workspaceId, workspaceId, workspaceId, elsewhere.workspaceId]) {
    const id = uuid7(await readClock(db));
    await db.transaction((trx) =>
      insertErasure(trx, { id, workspaceId: whose, requestedBy: null, ...request }),
    );
  }
  const pipelines = testPipelines(service.database.connection);
  // Each of these erasures takes ten steps: one to await admissions, two to scan the records and two to record that, one for
  // its executions in progress, two for workflow runs, one for lines, and one to record its completion. One that scans more
  // records takes eleven meanwhile; three of them would take thirty.
  let transactions = 0;
  const few: RunPaced = async (work) => (transactions++ < 22 ? work() : undefined);
  await workErasures(db, pipelines, few);
  await pipelines.close();
  const { rows } = await sql<{ open: number }>`
    select count(*)::float8 as open from erasures
    where workspace_id = ${elsewhere.workspaceId} and completed_at is null`.execute(db);
  assert.equal(rows[0]?.open, 0);
});

test('erases in all agents or in one, never in another workspace', async () => {
  const [one, two] = [await addAgent(service), await addAgent(service)];
  const elsewhere = await service.workspace();
  const { ownerId, workspaceId: other } = elsewhere;
  const theirs = await addAgent({ db, workspaceId: other, ownerId });
  const atMs = Date.now() - 1_000;
  const variables = '{"customer":"c-agents"}';
  const ids = await addRecords(db, [
    { workspaceId, agentId: one.id, atMs, variables },
    { workspaceId, agentId: two.id, atMs, variables },
    { workspaceId: other, agentId: theirs.id, atMs, variables },
  ]);
  const erasure = { variable: 'customer', value: 'c-agents' };
  await erased({ ...erasure, agentId: one.agentId });
  assert.deepEqual(await remainingIds(db, ids), [ids[1], ids[2]]);
  await erased(erasure);
  assert.deepEqual(await remainingIds(db, ids), [ids[2]]);
});

for (const which of ['all agents', 'one agent']) {
  test(`${which}: an erasure waits for executions that have not ended, and deletes its value at the end`, async () => {
    const agent = await addAgent(service, { optionalVariables: ['customer'] });
    const { key } = await service.key();
    const value = `c-waits-${which}`;
    const heldCall = models.hold();
    const variables = { name: 'you', customer: value };
    const { body } = await call('POST', `${agent.path}/execute`, { key, body: { variables } });
    await heldCall.arrived;
    const agentId = which === 'one agent' ? agent.agentId : null;
    const waiting = await erased({ variable: 'customer', value, agentId });
    assert.equal(waiting.status, 'processing');
    assert.equal(waiting.waiting, 1);
    assert.equal(waiting.completedAt, null);

    heldCall.release();
    await ended(service, body.statusUrl, key);
    await round();
    const done = (await call('GET', `${path}/${waiting.erasureId}`, { user })).body;
    assert.deepEqual(
      { status: done.status, deleted: done.deleted, waiting: done.waiting },
      { status: 'completed', deleted: 1, waiting: 0 },
    );
    assert.equal((await call('GET', body.statusUrl, { key })).status, 404);
    const { rows } = await sql`select from erasures where value is not null`.execute(db);
    assert.equal(rows.length, 0);
    const { rows: audit } = await sql<{ text: string }>`
      select string_agg(a::text, ' ') as text from audit a`.execute(db);
    assert.ok(!audit[0]?.text.includes(value));
  });
}

test('an erasure deletes the idempotency keys of its records: a repeat starts a new execution', async () => {
  const agent = await addAgent(service, { optionalVariables: ['customer'] });
  const { key } = await service.key();
  const execute = (customer: string) =>
    call('POST', `${agent.path}/execute`, {
      key,
      body: { variables: { name: 'you', customer } },
      headers: { 'idempotency-key': customer },
    });
  const [first, other] = [await execute('c-once'), await execute('c-other')];
  for (const { body } of [first, other]) await ended(service, body.statusUrl, key);
  await erased({ variable: 'customer', value: 'c-once' });
  const { rows } = await sql`
    select from idempotency where result = ${fromId('execution', first.body.executionId)}`.execute(
    db,
  );
  assert.equal(rows.length, 0);
  const again = await execute('c-once');
  assert.equal(again.status, 202);
  assert.equal(again.headers.get('idempotent-replayed'), null);
  assert.notEqual(again.body.executionId, first.body.executionId);
  await ended(service, again.body.statusUrl, key);
  assert.equal((await execute('c-other')).body.executionId, other.body.executionId);
});

test('an erasure lists the schedules whose input contains the value', async () => {
  const agent = await addAgent(service);
  const workflow = await makeWorkflow(service, greeting(agent.agentId));
  const { key } = await service.key();
  const inputs = [
    { name: 'ada@example.com' },
    { name: 'you', team: [{ note: 'Write to ada@example.com.' }] },
    { name: 'bob@example.com' },
    { name: 41 },
    { name: { id: 41 } },
  ];
  const ids: string[] = [];
  for (const input of inputs) {
    const body = { cron: '0 0 1 1 *', input, enabled: input.name !== 'you' };
    const created = await call('POST', `${workflow.path}/schedules`, { key, body });
    assert.equal(created.status, 201);
    ids.push(created.body.scheduleId);
  }
  const elsewhere = await service.workspace();
  const schedulesOf = async (value: string, who = user) =>
    (await call('POST', path, { user: who, body: { variable: 'name', value } })).body.schedules;
  assert.deepEqual(await schedulesOf('ada@example.com'), [ids[0], ids[1]]);
  assert.deepEqual(await schedulesOf('41'), [ids[3], ids[4]]);
  assert.deepEqual(await schedulesOf('{"id":41}'), [ids[4]]);
  assert.deepEqual(await schedulesOf(''), []);
  assert.deepEqual(await schedulesOf('ada@example.com', elsewhere.ownerId), []);
  const done = await erased({ variable: 'name', value: 'ada@example.com' });
  assert.deepEqual([done.status, done.schedules], ['completed', [ids[0], ids[1]]]);
  const list = await call('GET', path, { user });
  assert.deepEqual(list.body.erasures[0].schedules, [ids[0], ids[1]]);
});

test('a locked record is not skipped', async () => {
  const { id: agentId } = await addAgent(service);
  const variables = '{"customer":"c-held"}';
  const atMs = Date.now() - 1_000;
  const ids = await addRecords(db, [{ workspaceId, agentId, atMs, variables }]);
  let first: { erasureId: string; status: string } | undefined;
  await db.transaction(async (trx) => {
    await sql`select from executions where id = ${ids[0]} for update`.execute(trx);
    first = await erased({ variable: 'customer', value: 'c-held' });
  });
  assert.equal(first?.status, 'processing');
  assert.deepEqual(await remainingIds(db, ids), ids);
  await round();
  assert.deepEqual(await remainingIds(db, ids), []);
  assert.equal(
    (await call('GET', `${path}/${first?.erasureId}`, { user })).body.status,
    'completed',
  );
});
