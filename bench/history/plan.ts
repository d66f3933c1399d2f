import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { startCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { env, type Fixture } from './fixture.ts';

/** The plan of the longest statement of a call, from `auto_explain (analyze, buffers)` in a separate server. */
export async function planOf(
  environment: BenchEnvironment,
  fixture: Fixture,
  query: string,
): Promise<string> {
  const database = fixture.connection.database ?? '';
  for (const [name, value] of Object.entries(settings)) {
    await environment.ask(`alter database ${database} set ${name} = '${value}'`);
  }
  const server = await startCueline(environment, fixture.connection, 'api', { env });
  try {
    const call = async () => {
      const path = `/api/v1/agents/${fixture.agent.wireId}/executions?${query}`;
      const headers = { authorization: `Bearer ${fixture.agent.key}` };
      const [response] = await once(get(new URL(path, server.url), { headers }), 'response');
      await response.resume().toArray();
      if (response.statusCode !== 200) throw new Error(`${query}: ${response.statusCode}`);
    };
    for (let warm = 0; warm < 5; warm++) await call();
    const before = await logBytes(environment);
    await call();
    // The log collector writes with a delay.
    await delay(collectorMs);
    return slowestOf(await readLog(environment, before));
  } finally {
    await server.stop();
    for (const name of Object.keys(settings)) {
      await environment.ask(`alter database ${database} reset ${name}`);
    }
  }
}

const collectorMs = 3_000;

const settings = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
};

async function logBytes(environment: BenchEnvironment): Promise<number> {
  const [row] = await environment.ask<{ size: string }>(
    'select size from pg_stat_file(pg_current_logfile())',
  );
  return Number(row?.size ?? 0);
}

async function readLog(environment: BenchEnvironment, from: number): Promise<string> {
  const [row] = await environment.ask<{ text: string }>(
    `select pg_read_file(pg_current_logfile(), ${from}, 10000000) as text`,
  );
  return row?.text ?? '';
}

const linesMax = 120;
/** Longer lines contain parameters. */
const lineCharsMax = 400;

/** An entry starts with the duration; the statement and its plan follow on lines that start with a tab. */
function slowestOf(log: string): string {
  const entries = log
    .split(/\n(?=\S)/)
    .flatMap((entry) => {
      const ms = /duration: ([\d.]+) ms {2}plan:/.exec(entry)?.[1];
      return ms && / (executions|statistics|breakdown) /.test(entry)
        ? [{ ms: Number(ms), entry }]
        : [];
    })
    .sort((a, b) => b.ms - a.ms);
  const slowest = entries[0]?.entry
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/^\t/, '').slice(0, lineCharsMax));
  return slowest?.slice(0, linesMax).join('\n') ?? 'No statement was logged.';
}
