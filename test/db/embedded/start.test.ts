import assert from 'node:assert/strict';
import { readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packagedNative } from '../../../src/db/embedded/binaries.ts';
import { embeddedSecret, findEmbedded, startEmbedded } from '../../../src/db/embedded/embedded.ts';
import { readPostmaster } from '../../../src/db/embedded/postmaster.ts';
import {
  newDirectory,
  persist,
  postmasterPid,
  query,
  startCueline,
  usedDirectory,
} from './start-and-kill.ts';

const used = usedDirectory();

test('the first start creates a database, the second one uses it', async (t) => {
  const dataDir = await newDirectory(t);
  const first = await startEmbedded({ dataDir });
  await query(first.connection, 'create table test_rows (line text)');
  await query(first.connection, "insert into test_rows values ('first')");
  const secret = await embeddedSecret(dataDir);
  await first.stop();
  assert.equal(await findEmbedded(dataDir), null);

  const second = await startEmbedded({ dataDir });
  t.after(() => second.stop());
  assert.deepEqual(await query(second.connection, 'select line from test_rows'), [
    { line: 'first' },
  ]);
  assert.deepEqual(await findEmbedded(dataDir), second.connection);
  assert.equal(await embeddedSecret(dataDir), secret);
  assert.ok(secret.length >= 32);
  await second.stop();
});

test('the server is durable, local and in UTC, and Cueline is no superuser', async (t) => {
  const dataDir = used();
  process.env.OPENAI_API_KEY = 'must-not-be-passed-on';
  t.after(() => delete process.env.OPENAI_API_KEY);
  const { connection, stop } = await startEmbedded({ dataDir });
  t.after(stop);
  const [settings] = await query(
    connection,
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
            current_setting('listen_addresses') as addresses, current_setting('ssl') as ssl,
            current_setting('TimeZone') as zone, current_setting('server_encoding') as encoding,
            (select datlocale from pg_database where datname = current_database()) as locale,
            (select rolsuper from pg_roles where rolname = current_user) as superuser`,
  );
  assert.deepEqual(settings, {
    fsync: 'on',
    commit: 'on',
    addresses: '',
    ssl: 'off',
    zone: 'UTC',
    encoding: 'UTF8',
    locale: 'C.UTF-8',
    superuser: false,
  });
  await assert.rejects(query({ ...connection, password: 'wrong' }, 'select'), { code: '28P01' });
  await embeddedSecret(dataDir);
  for (const name of ['secret', 'postgres.password', 'lock', 'postgres']) {
    const { mode } = await stat(join(dataDir, name));
    assert.equal(mode & 0o077, 0, `${name} is not readable by others`);
  }
  if (process.platform === 'linux') {
    const environment = await readFile(`/proc/${await postmasterPid(dataDir)}/environ`, 'utf8');
    assert.doesNotMatch(environment, /must-not-be-passed-on/);
  }
});

test('a second Cueline on the same data directory is rejected with the owner', async (t) => {
  const dataDir = used();
  const { stop } = await startEmbedded({ dataDir });
  t.after(stop);
  const other = startCueline(t, dataDir);
  const { failed } = await other.said;
  assert.match(failed ?? '', new RegExp(`Another Cueline \\(pid ${process.pid}\\)`));
  assert.ok(failed?.includes(dataDir));
  await stop();
  const third = await startEmbedded({ dataDir });
  await third.stop();
});

test('of two concurrent first starts, one succeeds', async (t) => {
  const dataDir = await newDirectory(t);
  const output = await Promise.all([startCueline(t, dataDir).said, startCueline(t, dataDir).said]);
  assert.equal(output.filter((result) => result.connection).length, 1);
  assert.equal(output.filter((result) => result.failed?.includes('Another Cueline')).length, 1);
});

test('a crashed first start is repeated', async (t) => {
  const dataDir = await newDirectory(t);
  const cueline = startCueline(t, dataDir);
  await persist(async () => {
    const aside = (await readdir(dataDir)).find((name) => name.startsWith('postgres.new-'));
    assert.ok(aside && (await readdir(join(dataDir, aside, 'data'))).includes('PG_VERSION'));
  });
  await cueline.kill();
  assert.ok(!(await readdir(dataDir)).includes('postgres'));

  const { connection, stop } = await startEmbedded({ dataDir });
  t.after(stop);
  await query(connection, 'select');
  await persist(async () => {
    await startEmbedded({ dataDir }).catch(() => {});
    assert.deepEqual(
      (await readdir(dataDir)).filter((name) => name.includes('.new')),
      [],
    );
  });
});

test('a data directory with special characters and a path too long for a socket', async (t) => {
  const dataDir = join(await newDirectory(t), `a "b", 'c' ü${'x'.repeat(100)}`);
  const { connection, stop } = await startEmbedded({ dataDir });
  t.after(stop);
  assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }]);
  assert.deepEqual(await findEmbedded(dataDir), connection);
  await stop();
  await assert.rejects(stat(String(connection.host)), { code: 'ENOENT' });
});

test('a wrong password file is reported', async () => {
  const [dataDir, passwordFile] = [used(), join(used(), 'postgres.password')];
  await rename(passwordFile, `${passwordFile}.old`);
  try {
    const refused = { name: 'StartupFailure', message: /postgres\.password/ };
    await assert.rejects(startEmbedded({ dataDir }), refused);
    assert.equal(await readPostmaster(join(dataDir, 'postgres')), null);
  } finally {
    await rename(`${passwordFile}.old`, passwordFile);
  }
});

test('a start can be aborted', async (_t) => {
  const dataDir = used();
  await assert.rejects(startEmbedded({ dataDir, signal: AbortSignal.abort() }), {
    name: 'StartupFailure',
  });
  const { stop } = await startEmbedded({ dataDir });
  await stop();
});

test('an unsupported platform is reported', async (t) => {
  const real = Object.getOwnPropertyDescriptor(process, 'arch');
  assert.ok(real);
  t.after(() => Object.defineProperty(process, 'arch', real));
  Object.defineProperty(process, 'arch', { ...real, value: 'riscv64' });
  assert.throws(packagedNative, { name: 'StartupFailure', message: /-riscv64.*DATABASE_URL/ });
});
