import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { Socket } from 'node:net';
import { after, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase } from '../../harness/database.ts';
import { numbered, testPipelines } from '../../harness/pipelines.ts';
import { isUnstorable } from '../../src/db/database-error.ts';
import { asCallFailure } from '../../src/http/response/error-response.ts';

const database = await createTestDatabase();
const pipelines = testPipelines(database.connection);
after(async () => {
  await pipelines.close();
  await database.drop();
});

const begin = numbered('begin', 'begin');
const commit = numbered('commit', 'commit');
const insert = numbered('insert', `insert into limits (subject) select * from unnest($1::uuid[])`);
const count = numbered<{ n: number }>('count', 'select count(*)::int as n from limits');

async function counted(): Promise<number> {
  const [row] = await pipelines.use((send) => send(count));
  return row?.n ?? -1;
}

/** Its text exceeds the maximum string length. */
const unsendable = { toString: () => 'x'.repeat(2 ** 29 - 24).concat('x'.repeat(100)) };

/** Which connection it is. */
const pid = numbered('pid', 'select pg_backend_pid() as pid');

test('a batch is sent before other microtasks continue', async (t) => {
  const events: string[] = [];
  await pipelines.use((send) => send(count));
  const { uncork } = Socket.prototype;
  t.mock.method(Socket.prototype, 'uncork', function (this: Socket) {
    events.push('sent');
    uncork.call(this);
  });
  const signal = Promise.withResolvers<void>();
  const other = signal.promise.then(() => events.push('continued'));
  await pipelines.use((send) => {
    const responses = [send(begin), send(count), send(commit)];
    events.length = 0;
    signal.resolve();
    return Promise.all(responses);
  });
  await other;
  assert.deepEqual(events.slice(0, 2), ['sent', 'continued']);
});

test('after an unsendable value, the commit is not sent', async () => {
  const work = pipelines.use(async (send) => {
    await Promise.all([
      send(begin),
      send(insert, [['00000000-0000-7000-8000-000000000001']]),
      send(insert, [[unsendable as unknown as string]]),
      send(commit),
    ]);
  });
  await assert.rejects(work, (error) => isUnstorable(error));
  assert.equal(await counted(), 0);
});

test('a failed statement rolls back the transaction', async () => {
  const work = pipelines.use(async (send) => {
    await Promise.all([
      send(begin),
      send(insert, [['00000000-0000-7000-8000-000000000002']]),
      send(insert, [['no id']]),
      send(commit),
    ]);
  });
  await assert.rejects(work, (error) => isUnstorable(error));
  assert.equal(await counted(), 0);
});

test('a batch without an explicit transaction is atomic', async () => {
  const work = pipelines.use((send) =>
    Promise.all([
      send(insert, [['00000000-0000-7000-8000-000000000003']]),
      send(insert, [['no id']]),
      send(count),
    ]),
  );
  await assert.rejects(work, (error) => isUnstorable(error));
  assert.equal(await counted(), 0);
});

test('a statement is prepared and described once, and each call gets its own rows', async (t) => {
  const describe = t.mock.method(pg.Connection.prototype, 'describe');
  const parse = t.mock.method(pg.Connection.prototype, 'parse');
  const range = numbered('range', 'select n, n % 2 = 0 as even from generate_series(1, $1::int) n');
  const none = numbered('none', 'select 1 as n where false');
  const results = await pipelines.use(async (send) => [
    ...(await Promise.all([send(range, [1]), send(none), send(range, [2])])),
    ...(await Promise.all([send(none), send(range, [1])])),
  ]);
  const [one, two] = [
    { n: 1, even: false },
    { n: 2, even: true },
  ];
  assert.deepEqual(results, [[one], [], [one, two], [], [one]]);
  assert.equal(parse.mock.callCount(), 2);
  assert.equal(describe.mock.callCount(), 3);
});

test('a connection with a failed statement is not reused, even if the failure was handled', async () => {
  const failing = await pipelines.use(async (send) => {
    const rows = await send(pid);
    await assert.rejects(send(insert, [['no id']]));
    return rows;
  });
  assert.notDeepEqual(await pipelines.use((send) => send(pid)), failing);
});

test('pending work completes before the connections close', async () => {
  const closing = testPipelines(database.connection);
  const slow = numbered('slow', 'select pg_sleep(0.2), 1 as n');
  const work = closing.use(async (send) => [...(await send(slow)), ...(await send(slow))]);
  await closing.close();
  assert.equal((await work).length, 2);
});

test('texts and bytes are transferred unchanged', async () => {
  const texts = ['', 'NULL', '"', '\\', '{a,b}', 'a,b', ' x ', '\n\t', "'", '\\x61', '😀', '\\"{}'];
  const echo = numbered('echo', 'select unnest($1::text[]) as text');
  const rows = await pipelines.use((send) => send(echo, [[...texts, null]]));
  assert.deepEqual(
    rows.map(({ text }) => text),
    [...texts, null],
  );
  const bytes = numbered('bytes', 'select unnest($1::bytea[]) as bytes');
  const sent = [Buffer.from([0, 1, 92, 34, 255]), Buffer.alloc(0)];
  const back = await pipelines.use((send) => send(bytes, [sent]));
  assert.deepEqual(
    back.map((row) => row.bytes),
    sent,
  );
});

test('a response that arrived while this process was blocked is read before the timeout applies', async () => {
  const responseTimeoutMs = 1_000;
  const ask = numbered('held-up', `select 'held up' as text`);
  // The connection is open already.
  const connection = await pipelines.use((send) => send(pid));
  const rows = await pipelines.use(async (send) => {
    const first = send(ask);
    const until = performance.now() + responseTimeoutMs + 100;
    // After the statement was sent.
    setImmediate(() => {
      blockUntilResponse();
      while (performance.now() < until);
    });
    return first;
  }, responseTimeoutMs);
  assert.deepEqual(rows, [{ text: 'held up' }]);
  // It remains in use. Without the short timeout, which a slow machine exceeds.
  assert.deepEqual(await pipelines.use((send) => send(pid)), connection);
});

/** Blocks this process until the server has responded. */
function blockUntilResponse(): void {
  const script = `
    import pg from 'pg';
    const client = new pg.Client(JSON.parse(process.argv[1]));
    await client.connect();
    const ended = "select from pg_stat_activity where query like '%held up%' and state = 'idle' and datname = current_database()";
    while ((await client.query(ended)).rowCount === 0);
    await client.end();`;
  const connection = JSON.stringify(database.connection);
  execFileSync(process.execPath, ['--input-type=module', '--eval', script, connection], {
    cwd: import.meta.dirname,
    timeout: 60_000,
  });
}

test('connections are limited, and further work waits', async (t) => {
  const few = testPipelines(database.connection, 3);
  t.after(() => few.close());
  const pids = await Promise.all(
    Array.from({ length: 40 }, () =>
      few.use(async (send) => {
        const [row] = await send(pid);
        return row?.pid;
      }),
    ),
  );
  assert.equal(new Set(pids).size, 3);
});

test('a failed connection frees its slot at once, so that the work can query the outcome', async (t) => {
  const one = testPipelines(database.connection, 1);
  t.after(() => one.close());
  const rows = await one.use(async (send) => {
    await assert.rejects(send(insert, [['no id']]));
    return one.use((other) => other(count));
  });
  assert.equal(rows.length, 1);
});

test('work that waits too long fails as unavailable', async (t) => {
  const one = testPipelines(database.connection, 1);
  t.after(() => one.close());
  const release = Promise.withResolvers<void>();
  const first = one.use(() => release.promise);
  await assert.rejects(
    one.use(() => assert.fail('it had a connection'), 1),
    (error) => asCallFailure(error)?.code === 'UNAVAILABLE',
  );
  release.resolve();
  await first;
  assert.equal((await one.use((send) => send(count))).length, 1);
});
