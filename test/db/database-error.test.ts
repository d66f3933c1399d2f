import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase } from '../../harness/database.ts';
import { type Db, openDatabase } from '../../src/db/database.ts';
import { isUnavailable } from '../../src/db/database-error.ts';
import { sql } from '../../src/db/sql.ts';
import { asCallFailure } from '../../src/http/response/error-response.ts';

const database = await createTestDatabase();
after(() => database.drop());

const coded = (code: string) => Object.assign(new pg.DatabaseError('no', 1, 'error'), { code });

const thrownBy = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail('nothing was thrown'),
    (error: unknown) => error,
  );

function open(
  t: { after(end: () => Promise<void>): void },
  options: { host?: string; statementMsMax?: number } = {},
): Db {
  const { statementMsMax = 1_000, host } = options;
  const connection = { ...database.connection, ...(host && { host }) };
  const db = openDatabase({ connection, poolMax: 1, statementMsMax, onError: () => {} });
  t.after(() => db.destroy());
  return db;
}

test('an unreachable, full or slow database is reported as unavailable', async (t) => {
  const db = open(t);
  const release = Promise.withResolvers<void>();
  const busy = db.connection(() => release.promise);
  const full = await thrownBy(sql`select`.execute(db));
  release.resolve();
  await busy;
  const unavailable = [
    full,
    await thrownBy(sql`select pg_sleep(60)`.execute(db)),
    await thrownBy(sql`select pg_terminate_backend(pg_backend_pid())`.execute(db)),
    await thrownBy(sql`select`.execute(open(t, { host: '/nowhere' }))),
    ...['08006', '25006', '25P03', '40P01', '53300', '53100', '55P03', '57P03'].map(coded),
    new Error('Connection terminated unexpectedly'),
    new Error('Client has encountered a connection error and is not queryable'),
  ];
  for (const error of unavailable) {
    assert.ok(isUnavailable(error), String(error));
    const failure = asCallFailure(error);
    assert.deepEqual([failure?.code, failure?.fields.retryAfter], ['UNAVAILABLE', 1]);
  }
});

test('a bug of the program is not reported as unavailable', async (t) => {
  const aborted = open(t, { statementMsMax: 30_000 }).transaction(async (trx) => {
    await thrownBy(sql`select 1 / 0`.execute(trx));
    await sql`select`.execute(trx);
  });
  const bugs = [
    await thrownBy(aborted),
    await thrownBy(readFile('/nowhere/page.html')),
    new Error('the parser did not answer'),
    new TypeError('timeout exceeded'),
    ...['22P02', '23505', '42P01'].map(coded),
    'no error',
  ];
  for (const bug of bugs) assert.equal(asCallFailure(bug), null, String(bug));
});
