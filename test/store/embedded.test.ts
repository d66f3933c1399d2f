import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  cp,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { accountFor, reaches } from '../../src/store/embedded/account.ts';
import { packagedNative } from '../../src/store/embedded/binaries.ts';
import { readPostmaster } from '../../src/store/embedded/postmaster.ts';
import { embeddedSecret, findEmbedded, startEmbedded } from '../../src/store/embedded.ts';

const root = process.getuid?.() === 0;
let used = '';

before(async () => {
  used = await mkdtemp(join(tmpdir(), 'embedded-test-'));
  await chmod(used, 0o755);
  await (await startEmbedded({ dataDir: join(used, 'data') })).stop();
});
after(() => rm(used, { recursive: true, force: true }));

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
  const dataDir = await usedDirectory(t);
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
  const dataDir = await usedDirectory(t);
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

test('PostgreSQL alone ends: it comes back, on the same connection', async (t) => {
  const dataDir = await usedDirectory(t);
  const { connection, onExit, stop } = await startEmbedded({ dataDir });
  t.after(stop);
  await query(connection, 'create table kept as select 1 as line');
  const told = new Promise<string>(onExit);
  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    const pid = await postmasterPid(dataDir);
    process.kill(pid, signal);
    await persist(async () => {
      assert.notEqual(await postmasterPid(dataDir), pid);
      assert.deepEqual(await query(connection, 'select line from kept'), [{ line: 1 }]);
    });
  }
  assert.equal(await told, 'signal SIGKILL');
});

test('Cueline alone is killed: the next start ends what it left running', async (t) => {
  const dataDir = await usedDirectory(t);
  const cueline = startCueline(t, dataDir);
  const { connection } = await cueline.said;
  assert.ok(connection);
  await query(connection, 'create table kept as select 1 as line');
  const pid = await postmasterPid(dataDir);
  await cueline.kill();
  assert.deepEqual(await query(connection, 'select line from kept'), [{ line: 1 }]);

  const { stop, ...next } = await startEmbedded({ dataDir });
  t.after(stop);
  assert.notEqual(await postmasterPid(dataDir), pid);
  assert.deepEqual(await query(next.connection, 'select line from kept'), [{ line: 1 }]);
});

test('everything is killed: the next start recovers', async (t) => {
  const dataDir = await usedDirectory(t);
  const cueline = startCueline(t, dataDir);
  const { connection } = await cueline.said;
  assert.ok(connection);
  await query(connection, 'create table kept as select 1 as line');
  const pid = await postmasterPid(dataDir);
  await cueline.kill();
  process.kill(pid, 'SIGKILL');

  const { stop, ...next } = await startEmbedded({ dataDir });
  t.after(stop);
  assert.deepEqual(await query(next.connection, 'select line from kept'), [{ line: 1 }]);
});

test('the number of a dead PostgreSQL went to another process, which is left alone', async (t) => {
  const dataDir = await usedDirectory(t);
  const first = await startEmbedded({ dataDir });
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
  const text = await readFile(pidFile, 'utf8');
  await first.stop();
  const account = await accountFor(join(dataDir, 'postgres'));
  const stranger = spawn('sleep', ['1000'], { stdio: 'ignore', cwd: '/', ...account });
  t.after(() => stranger.kill('SIGKILL'));
  await writeFile(pidFile, text.replace(/^\d+/, String(stranger.pid)));
  if (account) await chown(pidFile, account.uid, account.gid);

  const second = await startEmbedded({ dataDir });
  t.after(() => second.stop());
  await query(second.connection, 'select');
  assert.equal(stranger.exitCode ?? stranger.signalCode, null);
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

test('a password that is not the one of the database is said to be so', async (t) => {
  const dataDir = await usedDirectory(t);
  const { stop } = await startEmbedded({ dataDir });
  await stop();
  await rm(join(dataDir, 'postgres.password'));
  await assert.rejects(startEmbedded({ dataDir }), {
    name: 'StartFailure',
    message: /postgres\.password/,
  });
  assert.equal(await readPostmaster(join(dataDir, 'postgres')), null);
});

test('a start can be given up', async (t) => {
  const dataDir = await usedDirectory(t);
  await assert.rejects(startEmbedded({ dataDir, signal: AbortSignal.abort() }), {
    name: 'StartFailure',
  });
  const { stop } = await startEmbedded({ dataDir });
  await stop();
});

test('a platform without a package is named', async (t) => {
  const real = Object.getOwnPropertyDescriptor(process, 'arch');
  assert.ok(real);
  t.after(() => Object.defineProperty(process, 'arch', real));
  Object.defineProperty(process, 'arch', { ...real, value: 'riscv64' });
  assert.throws(packagedNative, { name: 'StartFailure', message: /-riscv64.*DATABASE_URL/ });
});

test('as root, below folders that only root may enter', { skip: !root }, async (t) => {
  const [closed, sharedDir] = [await newDirectory(t), await newDirectory(t)];
  await chmod(closed, 0o700);
  await chmod(sharedDir, 0o755);
  // The programs behind a closed folder, as in /root/cueline/node_modules.
  await symlink(packagedNative(), join(closed, 'native'));
  await cp(join(packagedNative(), '..', 'package.json'), join(closed, 'package.json'));
  const dataDir = join(closed, 'data');
  const options = { dataDir, sharedDir, native: join(closed, 'native') };
  const first = await startEmbedded(options);
  await query(first.connection, 'create table kept as select 1 as line');
  await first.stop();
  const second = await startEmbedded(options);
  t.after(() => second.stop());
  assert.deepEqual(await query(second.connection, 'select line from kept'), [{ line: 1 }]);
  assert.deepEqual(await findEmbedded(dataDir), second.connection);
  assert.equal(
    dirname(dirname(await realpath(join(dataDir, 'postgres')))),
    await realpath(sharedDir),
  );

  // A copy of the data directory points to the same cluster, which can be only one's.
  await cp(dataDir, join(closed, 'copy'), { recursive: true, verbatimSymlinks: true });
  await assert.rejects(
    startEmbedded({ ...options, dataDir: join(closed, 'copy') }),
    /Another Cueline/,
  );
  await second.stop();
  await rm(sharedDir, { recursive: true });
  await assert.rejects(startEmbedded(options), { name: 'StartFailure' });
});

test('as root, on a data directory that was copied as root', { skip: !root }, async (t) => {
  const dataDir = await usedDirectory(t);
  assert.equal((await stat(join(dataDir, 'postgres'))).uid, 0);
  const { connection, stop } = await startEmbedded({ dataDir });
  t.after(stop);
  await query(connection, 'select');
});

test('as an ordinary user', { skip: !root }, async (t) => {
  const account = await accountFor('/nowhere');
  assert.ok(account);
  if (!(await reaches(account, import.meta.dirname))) return t.skip('sources out of reach');
  const dataDir = await newDirectory(t);
  await chown(dataDir, account.uid, account.gid);
  const cueline = startCueline(t, dataDir, account);
  const { connection } = await cueline.said;
  assert.ok(connection);
  assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }]);
  assert.equal((await stat(join(dataDir, 'postgres.password'))).uid, account.uid);
  await cueline.kill();
  // Root goes on with it as that user.
  const { stop } = await startEmbedded({ dataDir });
  await stop();
  const again = await startCueline(t, dataDir, account).said;
  assert.equal(again.failed, undefined);
  assert.ok(again.connection);
});

/** A directory with a database in it, as an earlier start left it: copied, which is quicker than to make one. */
async function usedDirectory(t: TestContext): Promise<string> {
  const directory = await newDirectory(t);
  await cp(join(used, 'data'), directory, { recursive: true });
  return directory;
}

/** An empty directory for one test; with it go the processes that a failed test may have left there. */
async function newDirectory(t: TestContext): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'embedded-test-')));
  await chmod(directory, 0o755);
  t.after(async () => {
    const left = await readPostmaster(join(directory, 'postgres')).catch(() => null);
    if (left && left.pid < 2_147_483_647) killHard(left.pid);
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  return directory;
}

function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

interface Said {
  readonly connection?: pg.ClientConfig;
  readonly failed?: string;
}

/** A process of its own that starts PostgreSQL as Cueline does, says how that went, and stays. */
function startCueline(t: TestContext, dataDir: string, account?: { uid: number; gid: number }) {
  const module = new URL('../../src/store/embedded.ts', import.meta.url).href;
  const source = `
    import { startEmbedded } from ${JSON.stringify(module)};
    const say = (word) => console.log(JSON.stringify(word));
    try {
      const { connection } = await startEmbedded({ dataDir: process.argv[1] });
      say({ connection });
      setInterval(() => {}, 1000);
    } catch (error) { say({ failed: error.message }); }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...account,
  });
  const kill = () => end(child);
  t.after(kill);
  return { kill, said: firstLine(child) };
}

async function firstLine(child: ChildProcess): Promise<Said> {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += chunk;
    if (text.includes('\n')) return JSON.parse(text);
  }
  return { failed: 'the process said nothing' };
}

/** As by `kill -9`: it can give back nothing. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function postmasterPid(dataDir: string): Promise<number> {
  const postmaster = await readPostmaster(join(dataDir, 'postgres'));
  assert.ok(postmaster);
  return postmaster.pid;
}

async function query(connection: pg.ClientConfig, text: string): Promise<unknown[]> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Tries until it holds; the runner's own limit ends what never does. */
async function persist<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await delay(20);
    }
  }
}
