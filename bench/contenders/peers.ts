import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../harness/free-port.ts';
import { databaseUrl } from '../../harness/process.ts';
import type { BenchEnvironment } from '../environment.ts';
import { killAtExit, startServer } from '../server.ts';
import type { Contender, Opened } from './contender.ts';
import { postgresDurability } from './cueline.ts';

/**
 * Other job queues and servers, each behind an equally small endpoint (`peers/`), configured as their documentation
 * says.
 */

const peersDir = join(import.meta.dirname, '..', 'peers');
const redisDurability = 'Redis: appendonly=yes, appendfsync=always';

export const asDocumented: readonly Contender[] = [
  peer('BullMQ', 'bullmq.ts', false),
  peer('pg-boss, `send`', 'pg-boss.ts', false),
  peer('graphile-worker, `addJob`; output not stored', 'graphile-worker.ts', false),
];
export const batched: readonly Contender[] = [
  peer('BullMQ, `addBulk`', 'bullmq.ts', true),
  peer('pg-boss, `insert`', 'pg-boss.ts', true),
  peer('graphile-worker, `addJobs`; output stored', 'graphile-worker.ts', true),
];
export const langGraph: Contender = {
  name: 'LangGraph API server (JS), background runs',
  durability: 'memory; a file after 3 idle seconds',
  open: openLangGraph,
};

/** Installed on demand from its own lockfile. `npm ci` would reject a lockfile without packages for other platforms. */
export function installPeers(note: (line: string) => void): void {
  if (existsSync(join(peersDir, 'node_modules'))) return;
  note('installing the peers (npm install in bench/peers)');
  const { status } = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'],
    {
      cwd: peersDir,
      stdio: 'inherit',
    },
  );
  if (status !== 0) throw new Error('npm install failed in bench/peers');
}

function peer(name: string, script: string, microBatches: boolean): Contender {
  const redis = script === 'bullmq.ts';
  return {
    name,
    durability: redis ? redisDurability : postgresDurability,
    missing: async () =>
      redis && spawnSync('redis-server', ['--version']).status !== 0
        ? 'redis-server is not installed'
        : null,
    async open(environment) {
      const store = redis ? await startRedis(environment) : await createStore(environment);
      const server = await startServer({
        command: [join(peersDir, script), ...(microBatches ? ['--micro-batches'] : [])],
        env: store.env,
        logFile: join(environment.directory, `${script}.log`),
      });
      return {
        target: {
          ...{ host: server.url.hostname, port: Number(server.url.port), path: '/execute' },
          headers: { 'User-Agent': 'cueline-bench/1' },
          body: JSON.stringify({ variables: { name: 'a reader of the tide tables' } }),
        },
        servers: [server.pid],
        store: store.pid,
        async reset() {
          await ask(server.url, '/reset');
          if (!redis) await environment.ask('checkpoint');
        },
        finished: async () => Number(await ask(server.url, '/finished')),
        async close() {
          await server.stop();
          await store.close();
        },
      };
    },
  };
}

interface Store {
  readonly pid: number;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

async function createStore(environment: BenchEnvironment): Promise<Store> {
  const { connection, drop } = await environment.emptyDatabase();
  return {
    pid: environment.postmaster,
    env: { DATABASE_URL: databaseUrl(connection) },
    close: drop,
  };
}

async function startRedis(environment: BenchEnvironment): Promise<Store> {
  const port = await freePort();
  const dir = await mkdtemp(join(environment.directory, 'redis-'));
  const settings = {
    ...{ port, bind: '127.0.0.1', dir, appendonly: 'yes', appendfsync: 'always', save: '' },
    'maxmemory-policy': 'noeviction',
  };
  const child = spawn(
    'redis-server',
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: 'ignore' },
  );
  const cancelKill = killAtExit(child);
  while (!(await isListening(port))) await delay(20);
  return {
    pid: child.pid ?? 0,
    env: { REDIS_PORT: String(port) },
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      cancelKill();
    },
  };
}

async function openLangGraph(environment: BenchEnvironment): Promise<Opened> {
  const port = await freePort();
  const server = await startServer({
    command: [join(peersDir, 'langgraph.ts')],
    env: {
      PORT: String(port),
      LOG_LEVEL: 'error',
      LANGSMITH_TRACING: 'false',
      LANGGRAPH_CLI_NO_ANALYTICS: '1',
    },
    logFile: join(environment.directory, 'langgraph.log'),
    cwd: await mkdtemp(join(environment.directory, 'langgraph-')),
  });
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(new URL(path, server.url), {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  return {
    target: {
      ...{ host: '127.0.0.1', port, path: '/runs', headers: {} },
      body: JSON.stringify({
        assistant_id: 'echo',
        input: { name: 'a reader of the tide tables' },
        on_completion: 'keep',
      }),
    },
    servers: [server.pid],
    store: null,
    reset: async () => {
      await post('/internal/truncate', { runs: true, threads: true, checkpointer: true });
    },
    finished: async () => Number(await post('/threads/count', { status: 'idle' })),
    close: server.stop,
  };
}

async function ask(url: URL, path: string): Promise<unknown> {
  const answer = await fetch(new URL(path, url));
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  const connected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return connected;
}
