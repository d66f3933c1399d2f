import assert from 'node:assert/strict';
import { readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { packagedNative } from '../../../src/store/embedded/binaries.ts';
import { readPostmaster } from '../../../src/store/embedded/postmaster.ts';
import { embeddedSecret, findEmbedded, startEmbedded } from '../../../src/store/embedded.ts';
import {
  newDirectory,
  persist,
  postmasterPid,
  query,
  startCueline,
  usedDirectory,
} from './start-and-kill.ts';

const used = usedDirectory();

test('a first start makes a database, a second one continues on it', async (t) => {
  const dataDir = await newDirectory(t);
  const first = await startEmbedded({ dataDir });
  await query(first.connection, 'create table kept (line text)');
  await query(first.connection, "insert into kept values ('first')");
  const secret = await embeddedSecret(dataDir);
  await first.stop();
  assert.equal(await findEmbedded(dataDir), null);

  const second = await startEmbedded({ dataDir });
  t.after(() => second.stop());
  assert.deepEqual(await query(second.connection, 'select line from kept'), [{ line: 'first' }]);
  assert.deepEqual(await findEmbedded(dataDir), second.connection);
  assert.equal(await embeddedSecret(dataDir), secret);
  assert.ok(secret.length >= 32);
  await second.stop();
});

test('it is durable, local, in UTC, and Cueline is no superuser in it', async (t) => {
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
    assert.equal(mode & 0o077, 0, `${name} is closed to others`);
  }
  if (process.platform === 'linux') {
    const environment = await readFile(`/proc/${await postmasterPid(dataDir)}/environ`, 'utf8');
    assert.doesNotMatch(environment, /must-not-be-passed-on/);
  }
});

test('a second Cueline on the same data directory is told who is there', async (t) => {
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

test('of two first starts at once, one is let in', async (t) => {
  const dataDir = await newDirectory(t);
  const said = await Promise.all([startCueline(t, dataDir).said, startCueline(t, dataDir).said]);
  assert.equal(said.filter((word) => word.connection).length, 1);
  assert.equal(said.filter((word) => word.failed?.includes('Another Cueline')).length, 1);
});

test('a first start that died half way is started over', async (t) => {
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

test('a path too long for a socket, with anything in its name', async (t) => {
  const dataDir = join(await newDirectory(t), `a "b", 'c' ü${'x'.repeat(100)}`);
  const { connection, stop } = await startEmbedded({ dataDir });
  t.after(stop);
  assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }]);
  assert.deepEqual(await findEmbedded(dataDir), connection);
  await stop();
  await assert.rejects(stat(String(connection.host)), { code: 'ENOENT' });
});

test('a password that is not the one of the database is said to be so', async () => {
  const [dataDir, kept] = [used(), join(used(), 'postgres.password')];
  await rename(kept, `${kept}.old`);
  try {
    const refused = { name: 'StartupFailure', message: /postgres\.password/ };
    await assert.rejects(startEmbedded({ dataDir }), refused);
    assert.equal(await readPostmaster(join(dataDir, 'postgres')), null);
  } finally {
    await rename(`${kept}.old`, kept);
  }
});

test('a start can be given up', async (_t) => {
  const dataDir = used();
  await assert.rejects(startEmbedded({ dataDir, signal: AbortSignal.abort() }), {
    name: 'StartupFailure',
  });
  const { stop } = await startEmbedded({ dataDir });
  await stop();
});

test('a platform without a package is named', async (t) => {
  const real = Object.getOwnPropertyDescriptor(process, 'arch');
  assert.ok(real);
  t.after(() => Object.defineProperty(process, 'arch', real));
  Object.defineProperty(process, 'arch', { ...real, value: 'riscv64' });
  assert.throws(packagedNative, { name: 'StartupFailure', message: /-riscv64.*DATABASE_URL/ });
});
