import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { send } from '../../harness/browser.ts';
import { databaseUrl } from '../../harness/process.ts';
import type { BenchEnvironment } from '../environment.ts';
import { defaultFlags, startServer } from '../server.ts';
import type { Opened } from './contender.ts';

/**
 * Cueline from a folder with any state of its source. It migrates an empty database itself and is set up by its API,
 * because its tables may differ from ours.
 */
export interface CheckoutOptions {
  readonly folder: string;
  readonly role: 'start' | 'api';
  readonly model?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The highest limit possible, as in `cueline.ts`. */
const plenty = 1_000_000_000;
const rateLimits = { requestsPerMinute: plenty, requestsPerHour: plenty, requestsPerDay: plenty };
const owner = { email: 'owner@example.com', password: 'a password of the benchmarks' };
const pollMs = 10;

export async function openCheckout(
  environment: BenchEnvironment,
  { folder, role, model = 'cueline/echo', env = {} }: CheckoutOptions,
): Promise<Opened> {
  const { connection, drop } = await environment.emptyDatabase();
  const main = join(folder, 'src', 'main.ts');
  const server = await startServer({
    ...{ command: [main, role], flags: defaultFlags, cwd: folder },
    env: {
      DATABASE_URL: databaseUrl(connection),
      CUELINE_SECRET: 'a secret that only the benchmarks use for their databases',
      CUELINE_OWNER_EMAIL: owner.email,
      CUELINE_OWNER_PASSWORD: owner.password,
      PORT: '0',
      ...env,
    },
    logFile: join(environment.directory, `${role}.log`),
  });
  const { path, key } = await createAgent(server.url.origin, model);
  const client = new pg.Client(connection);
  await client.connect();
  const count = async (statement: string) => Number((await client.query(statement)).rows[0].n);
  return {
    target: {
      ...{ host: '127.0.0.1', port: Number(server.url.port), path: `${path}/execute` },
      headers: { Authorization: `Bearer ${key}`, 'User-Agent': 'cueline-bench/1' },
      body: JSON.stringify({ variables: { name: 'a reader of the tide tables' } }),
    },
    servers: [server.pid],
    store: environment.postmaster,
    async reset() {
      const unfinished = () => count('select count(*) as n from execution_queue');
      while (role === 'start' && (await unfinished()) > 0) await delay(pollMs);
      await client.query('truncate execution_queue, executions, statistics, idempotency');
      await environment.ask('checkpoint');
    },
    finished: () =>
      count(`select coalesce(sum(occurred), 0) as n from statistics
        where level = 'day' and status = 'success'`),
    async close() {
      await server.stop();
      await client.end();
      await drop();
    },
  };
}

/** A deployed agent, and a key for it. By the owner's session, because a key issues none with higher limits. */
async function createAgent(url: string, model: string) {
  const signIn = { body: owner, origin: url };
  const { cookie } = await send(url, 'POST', '/api/auth/sign-in/email', signIn);
  const post = async (path: string, body: object) => {
    const response = await send(url, 'POST', path, { cookie, origin: url, body });
    if (response.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(response.body)}`);
    return response.body as Record<string, string>;
  };
  const { promptId } = await post('/api/v1/prompts', { name: 'Prompt' });
  const versions = `/api/v1/prompts/${promptId}/versions`;
  const { promptVersionId } = await post(versions, { user: 'Hello {{name}}', model });
  const settings = { agentName: 'Agent', promptId, promptVersionId };
  const { agentId } = await post('/api/v1/agents', settings);
  const path = `/api/v1/agents/${agentId}`;
  for (const action of ['enable-api', 'deploy']) await post(`${path}/lifecycle`, { action });
  const permissions = ['execute', 'read'];
  const { key } = await post('/api/v1/keys', {
    ...{ name: 'bench', agentIds: [agentId], permissions, rateLimits },
  });
  return { path, key };
}
