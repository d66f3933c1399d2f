import { addToolAgent, echoOf, executedTool } from '../../harness/tool-agents.ts';
import { fromId } from '../../src/core/id.ts';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import type { Benchmark } from '../benchmark.ts';
import { ceiling } from '../contenders/bare.ts';
import { type OpenedCueline, openCueline } from '../contenders/cueline.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figure } from '../goals.ts';
import { spread, warmUps } from '../rounds.ts';
import { hundredths, type Table, withRange } from '../table.ts';

const turns = 8;
const commit = 'commit of a row';
const repeated = 'the execution without tools, once more';
const inside = 'turn, its tool inside the process';
const overHttp = 'turn, its tool behind HTTP';

export const turn: Benchmark = {
  name: 'turn',
  description:
    `What a turn with one call of an instant tool adds: executions with ${turns} such turns and executions without tools, one after ` +
    'the other, in one process with both roles and the built-in model. The difference of the medians of their times, from ' +
    '`executedAt` to `completedAt`, divided by the turns, beside the median commit of an update of one row in the same round. The ' +
    'tool answers inside the process, by a change of its source, or is a server on this machine that is called as shipped: signed, ' +
    'guarded, each time over a connection of its own.',
  goal: 'a turn with an instant tool adds at most four times the median commit of the same run',
  goalChecks: ([table]) =>
    [inside, overHttp].map((what) => ({ what, value: figure(table, what, 2), most: 4 })),
  byDefault: false,
  async run(environment, options) {
    const receiver = await ceiling.open(environment);
    const toolURL = `http://${receiver.target.host}:${receiver.target.port}/`;
    const shipped = await openSetup(environment, toolURL);
    const changed = await openSetup(environment, toolURL, instantTool);
    const rounds: Round[] = [];
    const count = Math.ceil(options.requests / executionsShare);
    for (let done = -warmUps; done < options.rounds; done++) {
      const round = {
        commitMs: await commitMs(shipped.opened.db, count),
        plainMs: await shipped.medianMs('plain', count),
        insideMs: await changed.medianMs('looping', count),
        httpMs: await shipped.medianMs('looping', count),
        repeatedMs: await shipped.medianMs('plain', count),
      };
      if (done >= 0) rounds.push(round);
    }
    for (const { opened } of [shipped, changed]) await opened.close();
    await receiver.close();
    return [tableOf(rounds)];
  },
};

/** `--requests` counts calls of a server under full load; these come one after the other. */
const executionsShare = 100;

const instantTool = {
  ...{ name: 'instant-tool', description: 'a tool answers inside the process' },
  file: 'features/tools/verbs/tool-sender.ts',
  find: 'const { called } = request;',
  replace:
    "const { called } = request; if (called) return { kind: 'done', result: 'ok', isError: false };",
};

interface Round {
  readonly commitMs: number;
  readonly plainMs: number;
  readonly insideMs: number;
  readonly httpMs: number;
  readonly repeatedMs: number;
}

interface Setup {
  readonly opened: OpenedCueline;
  /** The median time of executions one after the other. */
  medianMs(agent: 'plain' | 'looping', count: number): Promise<number>;
}

async function openSetup(
  environment: BenchEnvironment,
  toolURL: string,
  change?: typeof instantTool,
): Promise<Setup> {
  const name = change?.description ?? 'as shipped';
  const env = { CUELINE_ALLOWED_HOSTS: '127.0.0.1' };
  const opened = await openCueline(environment, {
    name,
    roles: ['start'],
    env,
    ...(change && { change }),
  });
  const { host, port, headers, path: plain = '' } = opened.target;
  const base = `http://${host}:${port}`;
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(base + path, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Record<string, string>;
    if (!response.ok) throw new Error(`${path}: ${answer.message}`);
    return answer;
  };
  const tool = { name: 'act', description: 'Acts.', inputSchema: { type: 'object' } };
  const { toolServerId = '' } = await send('POST', '/api/v1/tool-servers', {
    ...{ name: 'bench', kind: 'http', url: toolURL, tools: [tool] },
  });
  const call = [['act', { a: 1 }]] as const;
  const agent = await addToolAgent(
    opened,
    [executedTool({ server: fromId('toolServer', toolServerId) ?? '' })],
    { model: echoOf(...Array.from({ length: turns }, () => call)) },
  );
  const paths = { plain, looping: `${agent.path}/execute` };
  return {
    opened,
    async medianMs(which, count) {
      await opened.reset();
      const variables = which === 'plain' ? { name: 'you' } : { text: 'you' };
      for (let number = 0; number < count; number++) {
        const { statusUrl } = await send('POST', paths[which], { variables });
        const { status, error } = await send('GET', `${statusUrl}?wait=30`);
        if (status !== 'success') throw new Error(`an execution ended as ${status}: ${error}`);
      }
      const { rows } = await sql<{ ms: number }>`
        select (extract(epoch from completed_at - executed_at) * 1000)::float8 as ms from executions`.execute(
        opened.db,
      );
      return spread(rows.map(({ ms }) => ms)).median;
    },
  };
}

async function commitMs(db: Db, count: number): Promise<number> {
  await sql`create table if not exists bench_commits (n integer)`.execute(db);
  await sql`insert into bench_commits select 0 where not exists (select from bench_commits)`.execute(
    db,
  );
  const samples: number[] = [];
  for (let number = 0; number < count; number++) {
    const startedAt = performance.now();
    await sql`update bench_commits set n = n + 1`.execute(db);
    samples.push(performance.now() - startedAt);
  }
  return spread(samples).median;
}

function tableOf(rounds: readonly Round[]): Table {
  const addedMs = (ms: (round: Round) => number) => (round: Round) =>
    (ms(round) - round.plainMs) / turns;
  const row = (name: string, ms: (round: Round) => number) => [
    name,
    withRange(spread(rounds.map(ms)), hundredths),
    withRange(spread(rounds.map((round) => ms(round) / round.commitMs)), hundredths),
  ];
  return {
    columns: ['what', 'ms', 'of a commit'],
    rows: [
      row(commit, ({ commitMs: ms }) => ms),
      row('execution without tools', ({ plainMs }) => plainMs),
      row(
        repeated,
        addedMs(({ repeatedMs }) => repeatedMs),
      ),
      row(
        inside,
        addedMs(({ insideMs }) => insideMs),
      ),
      row(
        overHttp,
        addedMs(({ httpMs }) => httpMs),
      ),
    ],
    notes: [
      `*${repeated}* is the difference of equals, divided like that of a turn: what differences mean nothing.`,
    ],
  };
}
