import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { addBudget, addPrice } from '../harness/budgets.ts';
import { executedTool } from '../harness/tool-agents.ts';
import { fromId } from '../src/core/id.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { ask } from './access/ask.ts';
import { allEnded, checkTables } from './checker.ts';
import type { ProofEnvironment } from './environment.ts';
import { type DatabaseProxy, startProxy } from './proxy.ts';
import { until } from './until.ts';

/**
 * Executions that call tools, whose workers are killed around the statements of the loop, or lose the connection of one, while the
 * servers of the tools cut theirs. The receiver counts the effects of each call.
 */

export const executionsPerRound = 100;

/** What the loop sends to PostgreSQL, by the names of its statements. */
const statements = [
  'step-turns',
  'step-settlements',
  'step-dispatches',
  'completion-move-to-history',
] as const;
/** Before, PostgreSQL does not get the statement; after, its response is lost. */
const sides = ['before', 'after'] as const;

/** A tool of the server that models ask for, and no version has. */
export const notOfVersion = '/drop';

/** What a turn of the model costs under a budget: half of its bound. */
export const turnUsd = 0.0005;
const answerTokens = 5;

export interface ToolRun {
  /** How often a worker was killed or overtaken, or a connection cut, by what and where. */
  readonly faults: Readonly<Record<string, number>>;
  readonly accepted: number;
  readonly receiver: ToolReceiver;
  readonly violations: readonly string[];
}

interface RunOptions {
  readonly rounds: number;
  /**
   * What happens at a statement, one after the other: the worker dies, its connection breaks, or the statement is as late as after another
   * worker has taken over.
   */
  readonly strikes: readonly ('killed' | 'cut' | 'expired')[];
  /** Whether a budget, which has room for everything, reserves each turn. */
  readonly budget?: boolean;
}

/** Runs rounds, in each of which something happens before or after a statement of the loop. */
export async function runToolExecutions(
  environment: ProofEnvironment,
  { rounds, strikes, budget = false }: RunOptions,
): Promise<ToolRun> {
  const { db, leaseMs, random } = environment;
  const receiver = await startToolReceiver();
  const allowed = {
    CUELINE_LEASE_MS: String(leaseMs),
    CUELINE_ALLOWED_HOSTS: `127.0.0.1,${environment.provider.host}`,
  };
  const { url } = await environment.spawn('api', allowed);
  const { start, redefine } = await starterOf(environment, { url, receiver, budget });
  const accepted: string[] = [];
  const faults: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    const what = strikes[round % strikes.length] ?? 'killed';
    const proxy = await startProxy(environment.connection);
    // With so few heartbeats it does not learn of the loss before its statement arrives.
    const patient = what === 'expired' && { CUELINE_LEASE_MS: '60000' };
    const worker = await environment.spawn('worker', { ...allowed, ...patient }, proxy.connection);
    const other = what === 'expired' ? await environment.spawn('worker', allowed) : null;
    const statement = statements[round % statements.length] ?? statements[0];
    const side = sides[Math.floor(round / statements.length) % sides.length] ?? 'before';
    let overtaking: Promise<void> | null = null;
    let overtaken = 0;
    const struck = strikeAt(proxy, { statement, from: Math.floor(random() * 4) }, (text) => {
      // At once: what is in flight must not end first.
      if (what === 'killed') void worker.kill('SIGKILL');
      if (what !== 'expired') return side;
      overtaking ??= overtake(db, proxy, text).then((happened) => {
        overtaken += Number(happened);
        overtaking = null;
      });
      return null;
    });
    await redefine(round);
    const started = await Promise.all(Array.from({ length: executionsPerRound }, () => start()));
    accepted.push(...started);
    // A worker that is killed at once ends little: the next one that lives ends what has gathered.
    if (what !== 'killed') await allEnded(db);
    else await until(async () => struck.count > 0 || (await countLive(db)) === 0);
    await Promise.all([worker, other].map((one) => one?.kill('SIGKILL')));
    await overtaking;
    const fault = `${what} ${what === 'expired' ? 'at' : side} ${statement}`;
    const counts = { killed: Math.min(1, struck.count), cut: struck.count, expired: overtaken };
    faults[fault] = (faults[fault] ?? 0) + counts[what];
    await sql`update workers set lease_until = clock_timestamp() - interval '1 hour'`.execute(db);
    await proxy.close();
  }
  await environment.spawn('worker', allowed);
  const violations = (await allEnded(db)) ? [] : ['not all executions ended'];
  await receiver.close();
  const ids = accepted.map((id) => fromId('execution', id) ?? '');
  const tables = await checkTables(db, { accepted: ids, allowUnknown: true });
  return { faults, accepted: accepted.length, receiver, violations: [...violations, ...tables] };
}

/** At every eighth of these statements; says on which side the connection breaks. */
function strikeAt(
  proxy: DatabaseProxy,
  { statement, from }: { readonly statement: string; readonly from: number },
  strike: (text: string) => 'before' | 'after' | null,
): { readonly count: number } {
  let [number, count] = [0, 0];
  proxy.onSent = (_link, text) => {
    if (!text.includes(statement) || number++ % strikeEvery !== from) return null;
    count++;
    return strike(text);
  };
  return {
    get count() {
      return count;
    },
  };
}

const strikeEvery = 8;

/**
 * The worker that sends this statement loses its lease, and the statement arrives after another one has claimed its executions.
 * @returns whether one has
 */
async function overtake(db: Db, proxy: DatabaseProxy, text: string): Promise<boolean> {
  proxy.hold();
  try {
    const { rows: workers } = await sql<{ id: string }>`select id from workers`.execute(db);
    const owner = workers.find(({ id }) => text.includes(id));
    if (!owner) return false;
    await sql`
      update workers set lease_until = clock_timestamp() - interval '1 hour'
      where id = ${owner.id}`.execute(db);
    return await until(async () => {
      const { rows } = await sql`
        select from execution_queue
        where worker = ${owner.id} or worker is null and losses > 0 limit 1`.execute(db);
      return rows.length === 0;
    });
  } finally {
    proxy.release();
  }
}

async function countLive(db: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from execution_queue`.execute(db);
  return rows[0]?.n ?? 0;
}

interface StarterOptions {
  readonly url: string;
  readonly receiver: ToolReceiver;
  readonly budget: boolean;
}

/** Starts one execution: with few calls in two turns, with more than are sent at a time, or one whose model never answers. */
async function starterOf(
  environment: ProofEnvironment,
  { url, receiver: { address }, budget }: StarterOptions,
) {
  const { key } = await environment.key();
  const headers = { authorization: `Bearer ${key}` };
  const names = ['pay', 'mail', 'look'];
  const toolsNow = (description = '') =>
    [...names, 'drop'].map((name) => ({
      ...{ name, description: description || name, inputSchema: { type: 'object' } },
      path: `/${name}`,
    }));
  const body = { name: 'receiver', kind: 'http', url: address, maxConcurrency: 200 };
  const created = await ask(`${url}/api/v1/tool-servers`, 'POST', headers, {
    ...{ ...body, tools: toolsNow() },
  });
  if (created.status !== 201) throw new Error(`no tool server: ${created.text}`);
  const { toolServerId } = JSON.parse(created.text);
  const server = fromId('toolServer', toolServerId) ?? '';
  const executedTools = names.map((name) =>
    executedTool({
      ...{ name, tool: name, description: name, server, safe: name === 'look' },
      timeoutMs: 60_000,
    }),
  );
  // Those that are safe do not end the execution if their worker is lost.
  const many = [...Array.from({ length: 8 }, () => 'look'), 'pay', 'pay'].join('.');
  const models = [
    'ollama/calling-2-pay.mail.look',
    `ollama/calling-1-${many}`,
    'ollama/calling-9-look.drop',
  ];
  const config = { maxTokens: 2 * answerTokens, tools: { maxTurns: 3 } };
  const agents = await Promise.all(
    models.map((model) => environment.agent({ user: '{{text}}', model, executedTools, config })),
  );
  if (budget) {
    for (const model of models)
      await addPrice(environment, { model, perToken: turnUsd / answerTokens });
    await addBudget(environment, { limitUSD: 1_000_000, period: 'total' });
  }
  let number = 0;
  return {
    async start(): Promise<string> {
      const text = `execution ${++number}`;
      const agent = agents[number % 10 < 2 ? 1 + (number % 10) : 0];
      const path = `${url}${agent?.path}/execute`;
      const response = await ask(path, 'POST', headers, { variables: { text } });
      if (response.status !== 202) throw new Error(`not accepted: ${response.text}`);
      return JSON.parse(response.text).executionId;
    },
    /** Says other things of the tools, which only later versions would tell their models. */
    async redefine(round: number): Promise<void> {
      const patch = { tools: toolsNow(`as of round ${round}`) };
      const changed = await ask(
        `${url}/api/v1/tool-servers/${toolServerId}`,
        'PATCH',
        headers,
        patch,
      );
      if (changed.status !== 200) throw new Error(`no change: ${changed.text}`);
    },
  };
}

/** A server of tools that counts what it did for each call, and misbehaves now and then. */
export interface ToolReceiver {
  readonly address: string;
  /** Requests and effects by the id of the call. */
  readonly calls: ReadonlyMap<string, { readonly tool: string; requests: number; effects: number }>;
  close(): Promise<void>;
}

async function startToolReceiver(): Promise<ToolReceiver> {
  const calls = new Map<string, { tool: string; requests: number; effects: number }>();
  let number = 0;
  const server: Server = createServer(async (request, response) => {
    response.on('error', () => {});
    request.on('error', () => {});
    const id = String(request.headers['idempotency-key']);
    const call = calls.get(id) ?? { tool: request.url ?? '', requests: 0, effects: 0 };
    calls.set(id, call);
    call.requests++;
    const behaviour = ++number % 60;
    if (behaviour === 1) return void request.socket.resetAndDestroy();
    for await (const _ of request);
    if (behaviour === 2) {
      response.writeHead(429, { 'retry-after': '0' }).end();
      return;
    }
    call.effects++;
    if (behaviour === 3) return void request.socket.resetAndDestroy();
    if (behaviour === 4) return void response.writeHead(503).end();
    if (behaviour === 5) return breakOff(response);
    await wait(number % 20);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function breakOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"half":', () => response.socket?.resetAndDestroy());
}
