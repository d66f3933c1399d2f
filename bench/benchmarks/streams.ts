import { readFileSync } from 'node:fs';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { addKey } from '../../harness/people.ts';
import { toId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import { streamHeartbeatMs, streamsMax } from '../../src/http/contract/contract-limits.ts';
import type { Benchmark } from '../benchmark.ts';
import { type OpenedCueline, openCueline } from '../contenders/cueline.ts';
import { fillQueue } from '../fill.ts';
import { figure } from '../goals.ts';
import { megabytes, whole } from '../table.ts';
import { cpuMicros, residentBytes } from '../usage.ts';

/** Opened and closed first: compiled code and buffers of the first readers do not count. */
const warmUpReaders = 500;
const atOnce = 100;
/** Each reader has been sent two comments by then, and its key has been checked as often. */
const idleMs = 2.2 * streamHeartbeatMs;
/** The share of one workspace. */
const readersMax = 0.9 * streamsMax;
/** Descriptors that a process needs beside those of the readers. */
const otherFiles = 500;

export const streams: Benchmark = {
  name: 'streams',
  description:
    `${whole(readersMax)} idle readers in one \`api\` process, each of another execution that waits in the queue. Memory is resident memory after a garbage collection, and the highest ` +
    `of ${idleMs / 1_000} s before it; ${warmUpReaders} readers came and left before.`,
  goal: 'at most 30 kB of memory per reader, after a garbage collection',
  goalChecks: ([table]) => [
    { what: 'memory', unit: 'kB', value: figure(table, 'idle readers', 4), most: 30 },
  ],
  byDefault: false,
  async run(environment) {
    requireFiles(readersMax + otherFiles);
    const flags = ['--expose-gc', '--import', collectOnSignal];
    const opened = await openCueline(environment, { name: 'streams', roles: ['api'], flags });
    try {
      await fillQueue(environment, opened, readersMax);
      return [await measure(opened)];
    } finally {
      await opened.close();
    }
  },
};

/** Collects all garbage when the benchmark asks for it: what opening the readers left behind is not their memory. */
const collectOnSignal = `data:text/javascript,process.on('SIGUSR2', () => gc({ type: 'major', flavor: 'last-resort' }))`;

/** Node raises its limit of open files to the highest that is allowed; a server inherits it. */
function requireFiles(needed: number): void {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const [, hard = '0'] = /^Max open files\s+\S+\s+(\S+)/m.exec(limits) ?? [];
  if (hard === 'unlimited' || Number(hard) >= needed) return;
  throw new Error(`${needed} open files are needed, and ${hard} are allowed: ulimit -Hn ${needed}`);
}

async function measure(opened: OpenedCueline) {
  const pid = opened.servers[0] ?? 0;
  const paths = await streamPaths(opened);
  const warmUp = await openReaders(opened, paths.slice(0, warmUpReaders));
  for (const { request } of warmUp) request.destroy();
  const before = await collectedBytes(pid);
  const readers = await openReaders(opened, paths);
  const cpu = cpuMicros(pid);
  const startedMs = performance.now();
  let highest = 0;
  while (performance.now() - startedMs < idleMs) {
    highest = Math.max(highest, residentBytes(pid));
    await delay(100);
  }
  const cpuPerSecond = (cpuMicros(pid) - cpu) / ((performance.now() - startedMs) / 1_000);
  const memory = await collectedBytes(pid);
  const lost = readers.filter(({ response }) => response.destroyed || response.complete).length;
  for (const { request } of readers) request.destroy();
  if (lost > 0) throw new Error(`${lost} streams ended`);
  const each = (bytes: number) => ((bytes - before) / readers.length / 1_000).toFixed(1);
  return {
    columns: [
      ...['', 'readers', 'memory before', 'with them', 'kB each', 'kB each at most'],
      'µs CPU per second',
    ],
    rows: [
      [
        'idle readers',
        whole(readers.length),
        megabytes(before),
        megabytes(memory),
        each(memory),
        each(highest),
        whole(cpuPerSecond),
      ],
    ],
  };
}

/** Resident memory once what nobody needs is gone. */
async function collectedBytes(pid: number): Promise<number> {
  await delay(settleMs);
  process.kill(pid, 'SIGUSR2');
  await delay(settleMs);
  return residentBytes(pid);
}

const settleMs = 3_000;

async function streamPaths({ db, agent }: OpenedCueline): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from execution_queue`.execute(db);
  return rows.map(({ id }) => `${agent.path}/executions/${toId('execution', id)}/stream`);
}

interface Reader {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

/** Opens a reader for each path. Each has received its first event. */
async function openReaders(
  { db, workspaceId, target }: OpenedCueline,
  paths: readonly string[],
): Promise<Reader[]> {
  const { rows } = await sql<{ userId: string }>`
    select user_id from members where workspace_id = ${workspaceId}`.execute(db);
  const issuer = { workspaceId, userId: rows[0]?.userId ?? '' };
  const readers: Reader[] = [];
  const { key } = await addKey(db, issuer, {});
  while (readers.length < paths.length) {
    const some = paths.slice(readers.length, readers.length + atOnce);
    readers.push(...(await Promise.all(some.map((path) => openReader(target, path, key)))));
  }
  return readers;
}

function openReader(
  { host, port }: OpenedCueline['target'],
  path: string,
  key: string,
): Promise<Reader> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
    const request = get({ host, port, path, headers, agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      response.on('error', () => {});
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.once('data', () => resolve({ request, response }));
      response.resume();
    });
  });
}
