import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { runAsAdmin } from '../../harness/cluster.ts';
import { createTestDatabase } from '../../harness/database.ts';
import { databaseUrl } from '../../harness/process.ts';
import { connectToDatabase, parseDatabaseUrl } from '../../src/db/connect.ts';

test('every TLS mode verifies the server, without a warning', async (t) => {
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

test('a missing certificate is reported in one line', () => {
  assert.throws(
    () => parseDatabaseUrl('postgres://u@db/cueline?sslmode=verify-full&sslrootcert=/nope/ca.pem'),
    {
      name: 'StartupFailure',
      message: "DATABASE_URL is invalid: ENOENT: no such file or directory, open '/nope/ca.pem'.",
    },
  );
});

test('a database with another encoding is rejected with a remedy', async (t) => {
  const database = await createTestDatabase();
  const { connection } = database;
  const admin = { ...connection, user: 'postgres' };
  t.after(() => database.drop());
  const options = { withinMs: 0, signal: t.signal, onWait: () => {} };
  await connectToDatabase(connection, options);
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    const name = `${connection.database}_${encoding.toLowerCase()}`;
    const made = `template template0 locale_provider libc locale 'C' encoding '${encoding}'`;
    await runAsAdmin(admin, `create database ${name} ${made} owner cueline`);
    try {
      await assert.rejects(connectToDatabase({ ...connection, database: name }, options), {
        name: 'StartupFailure',
        message: new RegExp(`${encoding}; Cueline needs UTF8\\. .*createdb --encoding=UTF8`),
      });
    } finally {
      await runAsAdmin(admin, `drop database ${name} with (force)`);
    }
  }
});

test('what a server rejects is reported at once, in one sentence with its remedy', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const { connection } = database;
  const name = connection.database ?? '';
  const url = databaseUrl(connection);
  const { password: _, ...withoutPassword } = connection;
  const rejected: [pg.ClientConfig, RegExp][] = [
    ...['require', 'verify-full'].map((mode): [pg.ClientConfig, RegExp] => [
      parseDatabaseUrl(`${url}&sslmode=${mode}`),
      /: The server does not support SSL connections; set sslmode=disable in DATABASE_URL/,
    ]),
    [
      { ...connection, password: 'wrong' },
      /: password authentication failed .*; check the user and/,
    ],
    [withoutPassword, /; DATABASE_URL must contain the password of its user\.$/],
    [{ ...connection, database: 'nowhere' }, /"nowhere" does not exist; create it with createdb/],
  ];
  for (const [config, message] of rejected) await assertRejected(config, message);

  const admin = { ...connection, user: 'postgres' };
  await runAsAdmin(admin, `revoke connect on database ${name} from public, cueline`);
  await runAsAdmin(admin, 'create role stranger login password $$secret$$');
  const stranger = { ...connection, user: 'stranger', password: 'secret' };
  try {
    await assertRejected(
      stranger,
      /permission denied .*; grant the role CONNECT on the database\.$/,
    );
  } finally {
    await runAsAdmin(admin, 'drop role stranger');
  }
});

test('a role that cannot create tables is rejected at once, with its remedy', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const { connection } = database;
  const name = connection.database ?? '';
  const admin = { ...connection, user: 'postgres' };
  await runAsAdmin(admin, 'create role "My App" login password $$secret$$');
  const role = { ...connection, user: 'My App', password: 'secret' };
  try {
    await runAsAdmin(admin, 'revoke create on schema public from public');
    await assertRejected(
      role,
      /^The database role "My App" may not create tables in the schema public: run "GRANT CREATE ON SCHEMA public TO "My App"" as/,
    );
    await runAsAdmin(admin, 'grant create on schema public to "My App"');
    await assertRejected(
      role,
      /belong to the role cueline: connect as cueline, or run "GRANT cueline TO "My App""\.$/,
    );
    await runAsAdmin(admin, 'grant cueline to "My App"');
    await connectToDatabase(role, atOnce);
    for (const path of ["''", '"$user", missing', 'pg_catalog']) {
      await runAsAdmin(admin, `alter database ${name} set search_path = ${path}`);
      await assertRejected(
        role,
        /^The search_path of the database role "My App" \(.+\) names no schema .*SET search_path = public"\.$/,
      );
    }
  } finally {
    await runAsAdmin(admin, 'revoke create on schema public from "My App"');
    await runAsAdmin(admin, 'drop role "My App"');
  }
});

const atOnce = {
  withinMs: 60_000,
  signal: new AbortController().signal,
  onWait: (reason: string) => assert.fail(`waits: ${reason}`),
};

async function assertRejected(connection: pg.ClientConfig, message: RegExp): Promise<void> {
  await assert.rejects(connectToDatabase(connection, atOnce), { name: 'StartupFailure', message });
}

function tlsOf(url: string): unknown {
  return (new pg.Client(parseDatabaseUrl(url)) as unknown as { ssl: unknown }).ssl;
}
