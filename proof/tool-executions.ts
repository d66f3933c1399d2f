import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { executedTool } from '../harness/tool-agents.ts';
import { fromId } from '../src/core/id.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { ask } from './access/ask.ts';
import { allEnded, checkTables } from './checker.ts';
import type { ProofEnvironment } from './environment.ts';
import { startProxy } from './proxy.ts';
import { until } from './until.ts';

/**
 * Executions that call tools, whose workers are killed around the statements of the loop, while the servers of the tools cut their
 * connections. The receiver counts the effects of each call.
 */

export const executionsPerRound = 100;

/** What the loop sends to PostgreSQL, by the names of its statements. */
const statements = [
  'step-turns',
  'step-settlements',
  'step-dispatches',
  'completion-move-to-history',
] as const;
const sides = ['before', 'after'] as const;

export interface ToolRun {
  readonly kills: number;
  readonly accepted: number;
  readonly receiver: ToolReceiver;
  readonly violations: readonly string[];
}

/** Runs rounds, each of which kills a worker before or after a statement of the loop. */
export async function runToolExecutions(
  environment: ProofEnvironment,
  { rounds, executions = executionsPerRound }: { rounds: number; executions?: number },
): Promise<ToolRun> {
  const { db, leaseMs, random } = environment;
  const receiver = await startToolReceiver();
  const allowed = {
    CUELINE_LEASE_MS: String(leaseMs),
    CUELINE_ALLOWED_HOSTS: `127.0.0.1,${environment.provider.host}`,
  };
  const { url } = await environment.spawn('api', allowed);
  const start = await starterOf(environment, url, receiver);
  const accepted: string[] = [];
  const violations: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const proxy = await startProxy(environment.connection);
    const worker = await environment.spawn('worker', allowed, proxy.connection);
    const statement = statements[round % statements.length] ?? statements[0];
    const side = sides[Math.floor(round / statements.length) % sides.length] ?? 'before';
    let left = 1 + Math.floor(random() * 4);
    const killed = Promise.withResolvers<void>();
    // At once: what is in flight must not end first.
    let death: Promise<unknown> | null = null;
    const kill = () => {
      death ??= worker.kill('SIGKILL');
      return death;
    };
    proxy.onSent = (_link, text) => {
      if (!text.includes(statement)) return null;
      if (--left > 0) return null;
      if (left === 0) void kill().then(() => killed.resolve());
      return left === 0 ? side : 'before';
    };
    const started = Promise.all(Array.from({ length: executions }, () => start()));
    // Fewer than the chosen number of statements may be left.
    const over = until(async () => (await countLive(db)) === 0 && accepted.length > 0);
    accepted.push(...(await started));
    await Promise.race([killed.promise, over]);
    await kill();
    await sql`update workers set lease_until = clock_timestamp() - interval '1 hour'`.execute(db);
    await proxy.close();
  }
  await environment.spawn('worker', allowed);
  if (!(await allEnded(db))) violations.push('not all executions ended');
  await receiver.close();
  const ids = accepted.map((id) => fromId('execution', id) ?? '');
  const tables = await checkTables(db, { accepted: ids, allowUnknown: true });
  // A failed record may have no output, and a turn counts as an attempt.
  return {
    kills: rounds,
    accepted: accepted.length,
    receiver,
    violations: [...violations, ...tables],
  };
}

async function countLive(db: Db): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from execution_queue`.execute(db);
  return rows[0]?.n ?? 0;
}

/** Returns a function that starts one execution: with few calls in two turns, or with more than are sent at a time. */
async function starterOf(environment: ProofEnvironment, url: string, { address }: ToolReceiver) {
  const { key } = await environment.key();
  const headers = { authorization: `Bearer ${key}` };
  const names = ['pay', 'mail', 'look'];
  const tools = names.map((name) => ({
    ...{ name, description: name, inputSchema: { type: 'object' }, path: `/${name}` },
  }));
  const body = { name: 'receiver', kind: 'http', url: address, tools, maxConcurrency: 200 };
  const created = await ask(`${url}/api/v1/tool-servers`, 'POST', headers, body);
  if (created.status !== 201) throw new Error(`no tool server: ${created.text}`);
  const server = fromId('toolServer', JSON.parse(created.text).toolServerId) ?? '';
  const executedTools = names.map((name) =>
    executedTool({ ...{ name, tool: name, server, safe: name === 'look', timeoutMs: 60_000 } }),
  );
  // Those that are safe do not end the execution if their worker is lost.
  const many = [...Array.from({ length: 8 }, () => 'look'), 'pay', 'pay'].join('.');
  const models = ['ollama/calling-2-pay.mail.look', `ollama/calling-1-${many}`];
  const agents = await Promise.all(
    models.map((model) => environment.agent({ user: '{{text}}', model, executedTools })),
  );
  let number = 0;
  return async (): Promise<string> => {
    const text = `execution ${++number}`;
    const agent = agents[number % 10 === 0 ? 1 : 0];
    const path = `${url}${agent?.path}/execute`;
    const response = await ask(path, 'POST', headers, { variables: { text } });
    if (response.status !== 202) throw new Error(`not accepted: ${response.text}`);
    return JSON.parse(response.text).executionId;
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
