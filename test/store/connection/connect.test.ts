import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { runAsAdmin } from '../../../harness/cluster.ts';
import { createTestDatabase } from '../../../harness/database.ts';
import { connectToDatabase, parseDatabaseUrl } from '../../../src/store/connection/connect.ts';

test('whatever asks for TLS has the server checked, without a warning', async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    for (const query of [`sslmode=${mode}`, `connect_timeout=1&sslmode=${mode}&keepalives=1`]) {
      assert.deepEqual(tlsOf(`postgres://u@db/cueline?${query}`), {});
    }
  }
  assert.deepEqual(tlsOf('postgres://u@db/cueline?sslmode=no-verify'), {
    rejectUnauthorized: false,
  });
  assert.deepEqual(tlsOf('postgres://u@db/cueline?sslmode=require&uselibpqcompat=true'), {
    rejectUnauthorized: false,
  });
  assert.equal(tlsOf('postgres://u@db/cueline?sslmode=disable'), false);
  await new Promise(setImmediate);
  assert.deepEqual(warnings, []);
});

test('a certificate that is not there is said in one line', () => {
  assert.throws(
    () => parseDatabaseUrl('postgres://u@db/cueline?sslmode=verify-full&sslrootcert=/nope/ca.pem'),
    {
      name: 'StartupFailure',
      message:
        "DATABASE_URL cannot be used: ENOENT: no such file or directory, open '/nope/ca.pem'.",
    },
  );
});

test('a database that cannot hold every letter is refused, with what to do', async (t) => {
  const database = await createTestDatabase();
  const { connection } = database;
  const admin = { ...connection, user: 'postgres' };
  t.after(() => database.drop());
  const patience = { withinMs: 0, signal: t.signal, onWait: () => {} };
  await connectToDatabase(connection, patience);
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    const name = `${connection.database}_${encoding.toLowerCase()}`;
    const made = `template template0 locale_provider libc locale 'C' encoding '${encoding}'`;
    await runAsAdmin(admin, `create database ${name} ${made} owner cueline`);
    try {
      await assert.rejects(connectToDatabase({ ...connection, database: name }, patience), {
        name: 'StartupFailure',
        message: new RegExp(`${encoding}; Cueline needs UTF8\\. .*createdb --encoding=UTF8`),
      });
    } finally {
      await runAsAdmin(admin, `drop database ${name} with (force)`);
    }
  }
});

function tlsOf(url: string): unknown {
  return (new pg.Client(parseDatabaseUrl(url)) as unknown as { ssl: unknown }).ssl;
}
