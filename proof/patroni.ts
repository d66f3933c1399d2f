import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { runAsAdmin } from '../harness/cluster.ts';
import type { TestDatabase } from '../harness/database.ts';
import { debianPostgres } from '../harness/debian-postgres.ts';
import { freePort } from '../harness/free-port.ts';
import { onInterruption } from '../harness/interruption.ts';
import { openDatabase } from '../src/db/database.ts';
import { type Account, accountFor } from '../src/db/embedded/account.ts';
import { migrate } from '../src/db/migrations/migrate.ts';
import { type DatabaseProxy, startProxy } from './proxy.ts';

/**
 * Three nodes of PostgreSQL under Patroni, with etcd and HAProxy, on loopback: the configuration of `deploy/cluster`, from the
 * packages of Debian. Each node reaches etcd through a proxy of its own, which can cut it off.
 */
export interface PatroniCluster extends TestDatabase {
  /** All nodes, without the proxy. */
  readonly directUrl: string;
  /** Through HAProxy. */
  readonly standbyUrl: string;
  readonly nodes: readonly ClusterNode[];
  /** Null while no node leads. */
  primary(): Promise<ClusterNode | null>;
  /** The primary, once all other nodes stream from it and one of them is synchronous. */
  healthy(): Promise<ClusterNode>;
}

export interface ClusterNode {
  readonly name: string;
  /** Stops the processes that send the log to standbys, so that a commit cannot reach one. */
  stopSending(): Promise<void>;
  /** Kills its PostgreSQL; Patroni stays. */
  killPostgres(): Promise<void>;
  /** Kills everything on it at once. */
  kill(): Promise<void>;
  /** Starts Patroni again. */
  start(): void;
  freeze(): Promise<void>;
  resume(): void;
  /** Cuts it off from etcd. */
  cut(): void;
  heal(): void;
  /** A request to Patroni. */
  ask(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<{ status: number; text: string }>;
}

const packages = ['patroni', 'etcd', 'haproxy'];
const password = 'cueline';
const deploy = join(import.meta.dirname, '..', 'deploy', 'cluster');

/** What is missing to run a cluster; null if nothing is. */
export function missingForCluster(): string | null {
  const missing = packages.filter((name) => !isInstalled(name));
  if (debianPostgres() === null) missing.push('postgresql');
  if (missing.length === 0) return null;
  return `${missing.join(', ')} not installed: apt-get install patroni etcd-server haproxy postgresql`;
}

/**
 * Null from Patroni 3.0.3 on. An older one that was frozen grants itself a new lease when it is resumed, and overwrites the
 * lock of the node that took over: what that node acknowledged is lost. See https://github.com/patroni/patroni/pull/2689.
 */
export function missingForFrozenPrimary(): string | null {
  const version = execFileSync('patroni', ['--version'], { encoding: 'utf8' }).trim();
  const [major = 0, minor = 0, patch = 0] = version.match(/\d+/g)?.map(Number) ?? [];
  const isFixed = major > 3 || (major === 3 && (minor > 0 || patch >= 3));
  return isFixed ? null : `${version} is older than 3.0.3`;
}

function isInstalled(name: string): boolean {
  try {
    execFileSync('which', [name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface Shared {
  readonly directory: string;
  readonly bin: string;
  readonly account: Account | null;
  readonly children: Set<ChildProcess>;
}

export async function startPatroniCluster(): Promise<PatroniCluster> {
  const missing = missingForCluster();
  const bin = debianPostgres();
  if (missing !== null || bin === null) throw new Error(missing ?? 'no PostgreSQL');
  const directory = await mkdtemp(join(tmpdir(), 'cueline-cluster-'));
  await chmod(directory, 0o755);
  const account = await accountFor(directory);
  if (account) await chown(directory, account.uid, account.gid);
  const shared: Shared = { directory, bin, account, children: new Set() };
  const closers: (() => Promise<void>)[] = [];
  const nodes: PatroniNode[] = [];
  const stop = async () => {
    for (const node of nodes) await node.kill();
    for (const close of closers) await close();
    await rm(directory, { recursive: true, force: true });
    ignoreInterruption();
  };
  const ignoreInterruption = onInterruption(stop);
  try {
    const etcdPort = await startEtcd(shared, closers);
    for (const name of ['node1', 'node2', 'node3']) {
      const node = await PatroniNode.create(shared, name, etcdPort);
      closers.push(() => node.close());
      nodes.push(node);
      node.start();
      // The first one creates the database, the others copy it.
      if (name === 'node1') await node.until('/primary');
    }
    const proxy = await startHaproxy(shared, nodes, closers);
    return await openCluster(nodes, proxy, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openCluster(
  nodes: readonly PatroniNode[],
  proxy: { readonly primary: number; readonly standbys: number },
  stop: () => Promise<void>,
): Promise<PatroniCluster> {
  const primary = async () => {
    const found = await Promise.all(nodes.map((node) => node.isPrimary()));
    return nodes[found.indexOf(true)] ?? null;
  };
  const healthy = () =>
    patiently('the cluster has no primary with a synchronous standby', async () => {
      const node = await primary();
      return node && (await hasStandbys(node, nodes.length - 1)) ? node : null;
    });
  await healthy();
  const admin = { host: '127.0.0.1', port: proxy.primary, user: 'postgres', password };
  await patiently('the proxy has no primary', () =>
    runAsAdmin(admin, 'select 1').then(
      () => true,
      () => null,
    ),
  );
  await runAsAdmin(admin, `create role cueline login password '${password}'`);
  await runAsAdmin(admin, 'create database cueline owner cueline');
  const connection = { ...admin, user: 'cueline', database: 'cueline' };
  const db = openDatabase({ connection, poolMax: 1, onError: () => {} });
  await migrate(db);
  await db.destroy();
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const url = (where: string) => `postgres://cueline:${password}@${where}/cueline`;
  return {
    connection,
    drop: stop,
    directUrl: `${url(hosts)}?target_session_attrs=read-write`,
    standbyUrl: url(`127.0.0.1:${proxy.standbys}`),
    ...{ nodes, primary, healthy },
  };
}

/** Repeats until there is a result. Fails after a time in which every cluster recovers. */
async function patiently<T>(problem: string, look: () => Promise<T | null>): Promise<T> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > untilMs) throw new Error(`${problem} after ${patienceMs / 1_000} s`);
    await wait(200);
  }
}

const patienceMs = 180_000;

/** Patroni promotes only a standby that it has recorded as synchronous, which follows the setting of PostgreSQL. */
async function hasStandbys(node: PatroniNode, count: number): Promise<boolean> {
  try {
    const { text } = await node.ask('GET', '/cluster');
    if (!text.includes('"sync_standby"')) return false;
    const rows = await node.query<{ sync_state: string }>(
      `select sync_state from pg_stat_replication where state = 'streaming'`,
    );
    return rows.length >= count && rows.some(({ sync_state: state }) => state === 'sync');
  } catch {
    return false;
  }
}

function run(shared: Shared, program: string, args: readonly string[]): ChildProcess {
  const { account, children, directory } = shared;
  const env = { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', HOME: directory };
  const child = spawn(program, args, { cwd: directory, env, stdio: 'ignore', ...account });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function startEtcd(shared: Shared, closers: (() => Promise<void>)[]): Promise<number> {
  const [port, peerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const etcd = run(shared, 'etcd', [
    ...['--name', 'etcd', '--data-dir', join(shared.directory, 'etcd')],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
    ...['--initial-cluster', `etcd=${peer}`],
  ]);
  closers.push(() => end(etcd));
  for (;;) {
    const ready = await fetch(`${url}/health`).catch(() => null);
    if (ready?.ok) return port;
    if (etcd.exitCode !== null) throw new Error(`etcd ended with ${etcd.exitCode}`);
    await wait(100);
  }
}

async function startHaproxy(
  shared: Shared,
  nodes: readonly PatroniNode[],
  closers: (() => Promise<void>)[],
) {
  const [primary, standbys] = [await freePort(), await freePort()];
  const servers = nodes.map(
    ({ name, port, apiPort }) => `server ${name} 127.0.0.1:${port} check port ${apiPort}`,
  );
  const config = fill('haproxy.cfg', {
    LISTEN: '127.0.0.1',
    PRIMARY_PORT: primary,
    STANDBY_PORT: standbys,
    SERVERS: servers.join('\n  '),
  });
  const path = join(shared.directory, 'haproxy.cfg');
  await writeFile(path, config);
  const haproxy = run(shared, 'haproxy', ['-db', '-f', path]);
  closers.push(() => end(haproxy));
  return { primary, standbys };
}

/** The file of `deploy/cluster` with these values. */
function fill(file: string, values: Readonly<Record<string, string | number>>): string {
  const text = readFileSync(join(deploy, file), 'utf8');
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${file} has an unknown value ${name}`);
    return String(value);
  });
}

class PatroniNode implements ClusterNode {
  readonly name: string;
  readonly port: number;
  readonly apiPort: number;
  readonly #shared: Shared;
  readonly #data: string;
  readonly #config: string;
  readonly #etcd: DatabaseProxy;
  #patroni: ChildProcess | null = null;
  #frozen: number[] = [];

  private constructor(
    shared: Shared,
    node: { name: string; port: number; apiPort: number; data: string; config: string },
    etcd: DatabaseProxy,
  ) {
    this.#shared = shared;
    this.name = node.name;
    this.port = node.port;
    this.apiPort = node.apiPort;
    this.#data = node.data;
    this.#config = node.config;
    this.#etcd = etcd;
  }

  static async create(shared: Shared, name: string, etcdPort: number): Promise<PatroniNode> {
    const { directory, bin, account } = shared;
    const [port, apiPort] = [await freePort(), await freePort()];
    const own = join(directory, name);
    const [data, config] = [join(own, 'data'), join(own, 'patroni.yml')];
    await mkdir(own);
    if (account) await chown(own, account.uid, account.gid);
    const etcd = await startProxy({ host: '127.0.0.1', port: etcdPort });
    const filled = fill('patroni.yml', {
      ...{ NAME: name, LISTEN: '127.0.0.1', HOST: '127.0.0.1', API_PORT: apiPort, PORT: port },
      ...{ ETCD: `127.0.0.1:${etcd.connection.port}`, DATA: data, BIN: bin },
      ...{ PGPASS: join(own, 'pgpass'), PASSWORD: password, NETWORK: '127.0.0.1/32' },
    });
    // Otherwise Patroni would learn the address of etcd behind the proxy.
    await writeFile(config, filled.replace('etcd3:\n', 'etcd3:\n  use_proxies: true\n'));
    return new PatroniNode(shared, { name, port, apiPort, data, config }, etcd);
  }

  start(): void {
    this.#patroni = run(this.#shared, 'patroni', [this.#config]);
  }

  /** @param timeoutMs short where the caller looks again, because a node that is lost does not answer */
  async query<Row extends pg.QueryResultRow>(text: string, timeoutMs = 2_000): Promise<Row[]> {
    const client = new pg.Client({
      ...{ host: '127.0.0.1', port: this.port, user: 'postgres', password, database: 'postgres' },
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      client.end().catch(() => {});
    }
  }

  /** Patroni answers so from the moment it holds the lock, before PostgreSQL is promoted. */
  async isPrimary(): Promise<boolean> {
    try {
      const { status } = await this.ask('GET', '/primary');
      if (status !== 200) return false;
      const [row] = await this.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
      return row?.standby === false;
    } catch {
      return false;
    }
  }

  async until(path: string): Promise<void> {
    await patiently(`${this.name} does not answer ${path}`, async () => {
      const { status } = await this.ask('GET', path).catch(() => ({ status: 0 }));
      if (this.#patroni?.exitCode != null) throw new Error(`${this.name}: patroni ended`);
      return status === 200 || null;
    });
  }

  async ask(method: 'GET' | 'POST', path: string, body?: object) {
    const response = await fetch(`http://127.0.0.1:${this.apiPort}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(method === 'GET' ? 2_000 : 60_000),
    });
    return { status: response.status, text: await response.text() };
  }

  async stopSending(): Promise<void> {
    const senders = 'select pid from pg_stat_replication';
    const rows = await this.query<{ pid: number }>(senders, patienceMs);
    for (const { pid } of rows) send(pid, 'SIGSTOP');
  }

  async killPostgres(): Promise<void> {
    for (const pid of await this.#postgres()) send(pid, 'SIGKILL');
  }

  async kill(): Promise<void> {
    // Otherwise Patroni would start PostgreSQL again.
    if (this.#patroni) await end(this.#patroni);
    // It may just have started PostgreSQL, whose processes write to the folder until they have ended.
    await patiently(`${this.name} does not end`, async () => {
      const pids = await processesIn(this.#data);
      for (const pid of pids) send(pid, 'SIGKILL');
      return pids.length === 0 || null;
    });
  }

  async freeze(): Promise<void> {
    const patroni = this.#patroni?.pid;
    this.#frozen = [...(patroni ? [patroni] : []), ...(await this.#postgres())];
    for (const pid of this.#frozen) send(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.#frozen.splice(0)) send(pid, 'SIGCONT');
  }

  cut(): void {
    this.#etcd.refuse();
  }

  heal(): void {
    this.#etcd.heal();
  }

  async close(): Promise<void> {
    await this.#etcd.close();
  }

  /** The postmaster first, then its children. */
  async #postgres(): Promise<number[]> {
    const file = await readFile(join(this.#data, 'postmaster.pid'), 'utf8').catch(() => '');
    const postmaster = Number(file.split('\n')[0]);
    if (!(postmaster > 0) || !(await isRunning(postmaster, this.#data))) return [];
    return [postmaster, ...(await childrenOf(postmaster))];
  }
}

/** A number in an old file may belong to another process by now. */
async function isRunning(pid: number, data: string): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.includes(data);
}

/** The processes that work in this folder, or name it, such as a copy of the primary. */
async function processesIn(folder: string): Promise<number[]> {
  const pids = await allPids();
  const uses = await Promise.all(
    pids.map(async (pid) => {
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => null);
      return cwd === folder || isRunning(pid, folder);
    }),
  );
  return pids.filter((_, at) => uses[at]);
}

async function allPids(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = await allPids();
  const parents = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    }),
  );
  return pids.filter((_, at) => parents[at] === parent);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
