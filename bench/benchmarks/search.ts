import { insertRecords } from '../../harness/records.ts';
import { percentile } from '../../proof/claim.ts';
import { uuid7 } from '../../src/core/id.ts';
import { type Db, openDatabase } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import { indexRound } from '../../src/features/history/verbs/index-round.ts';
import type { Benchmark } from '../benchmark.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figures } from '../goals.ts';
import { type Fixture, openFixture } from '../history/fixture.ts';
import { spread } from '../rounds.ts';
import { hundredths, type Table, whole } from '../table.ts';

const callsEach = 40;
const warmUps = 5;
const indexedRecords = 20_000;
const wordsEach = 200;

export const search: Benchmark = {
  name: 'search',
  description:
    'First pages of searches for words, rare and frequent, in a long history over HTTP, called alternately with the first page of an ' +
    'agent with ten records; and how fast the index takes new records.',
  goal: 'at most 300 ms longer than ten records at the 95th percentile; 1,000 records of 200 words indexed per second',
  goalChecks: ([pages, indexing]) => [
    { what: 'longest difference', unit: 'ms', value: Math.max(...figures(pages, 4)), most: 300 },
    { what: 'indexing', unit: 'per second', value: figures(indexing, 1)[0] ?? 0, least: 1_000 },
  ],
  byDefault: false,
  executions: 100_000,
  async run(environment, { executions, note }) {
    const others = Math.ceil(executions / 100);
    const fixture = await openFixture(environment, executions, others);
    note(`${whole(executions)} records and ${whole(others)} of other agents`);
    try {
      await markRecords(fixture);
      await environment.ask('checkpoint');
      return [await timePages(fixture), await timeIndexing(environment)];
    } finally {
      await fixture.close();
    }
  },
};

async function timePages(fixture: Fixture): Promise<Table> {
  const rows: string[][] = [];
  for (const [name, q] of Object.entries(await searchesOf(fixture))) {
    const query = new URLSearchParams({ q, limit: '20' }).toString();
    const base: number[] = [];
    const calls: number[] = [];
    for (let call = -warmUps; call < callsEach; call++) {
      const [ms, baseMs] = [await fixture.time(query), await fixture.timeBase()];
      if (call < 0) continue;
      calls.push(ms);
      base.push(baseMs);
    }
    const { pagination } = await fixture.ask(query);
    const [slow, slowBase] = [percentile(calls, 0.95), percentile(base, 0.95)];
    rows.push([
      name,
      whole(pagination.total),
      hundredths(spread(calls).median),
      hundredths(slow),
      hundredths(slow - slowBase),
    ]);
  }
  return {
    title: `Pages, at ${whole(fixture.records)}`,
    columns: [
      'search',
      'matches, or found so far',
      'median, ms',
      'p95, ms',
      'p95, beyond that of ten records',
    ],
    rows,
  };
}

const tenWord = 'zephyrine';
const hundredthWord = 'quixotry';

/** Adds a word to the outputs of ten records, and one to those of every hundredth. */
async function markRecords({ connection, agent }: Fixture): Promise<void> {
  const db = openDatabase({ connection, poolMax: 1, statementMsMax: 0, onError: () => {} });
  try {
    const records = sql`from executions where agent_id = ${agent.id} and output is not null`;
    for (const [word, some] of [
      [tenWord, sql`select id ${records} order by random() limit 10`],
      [hundredthWord, sql`select id ${records} and random() < 0.01`],
    ] as const) {
      await sql`
        with chosen as materialized (${some}),
        longer as (
          update executions set output = output || ${` ${word}`} where id in (select id from chosen) returning id)
        insert into search_changes (id) select id from longer order by id`.execute(db);
    }
    const { signal } = new AbortController();
    await indexRound({ db, signal, isOn: true, rest: 0 });
    await sql`vacuum analyze search_groups, search_changes`.execute(db);
  } finally {
    await db.destroy();
  }
}

/** A reference is unique, or nearly so; customers and words have more records. */
async function searchesOf(fixture: Fixture): Promise<Record<string, string>> {
  const { executions } = (await fixture.ask('limit=100')) as unknown as {
    executions: readonly { outputText: string | null; inputVariables: { customer: string } }[];
  };
  const reference = executions.map(({ outputText }) => /See (\S+)\./.exec(outputText ?? '')?.[1]);
  return {
    'no record': 'zzyzx',
    'a word of ten records': tenWord,
    'a word of every hundredth': hundredthWord,
    'a reference': reference.find((one) => one !== undefined) ?? '',
    'a customer': `"${executions[0]?.inputVariables.customer ?? ''}"`,
    'a frequent word': 'rhubarb',
    'two words': 'rhubarb lighthouse',
  };
}

/** Without pauses, on one connection; program and PostgreSQL share the machine. */
async function timeIndexing(environment: BenchEnvironment): Promise<Table> {
  const { connection, drop } = await environment.database();
  const db = openDatabase({ connection, poolMax: 1, statementMsMax: 0, onError: () => {} });
  try {
    await addTexts(db);
    const startedMs = performance.now();
    const { signal } = new AbortController();
    await indexRound({ db, signal, isOn: true, rest: 0 });
    const seconds = (performance.now() - startedMs) / 1_000;
    return {
      title: `Indexing ${whole(indexedRecords)} records of ${wordsEach} words`,
      columns: ['measure', 'per second'],
      rows: [
        ['records', whole(indexedRecords / seconds)],
        ['words', whole((indexedRecords * wordsEach) / seconds)],
      ],
    };
  } finally {
    await db.destroy();
    await drop();
  }
}

/** Texts whose words are as unequally frequent as in natural language, of 50,000 different ones. */
async function addTexts(db: Db): Promise<void> {
  const atMs = Date.now();
  const [workspaceId, agentId] = [uuid7(atMs), uuid7(atMs)];
  const ids = Array.from({ length: indexedRecords }, () => uuid7(atMs));
  await insertRecords(
    db,
    sql`
      select id, ${atMs}::float8 as ms, ${workspaceId}::uuid as workspace_id, ${agentId}::uuid as agent_id,
        ${agentId}::uuid as prompt_version_id, null::uuid as api_key_id, true as ran, 30 as latency, 0.5 as cost_usd,
        'success'::execution_status as status, 'api'::execution_source as source, 'cueline/echo' as model,
        null as error_code, '{}' as variables, null as system_prompt, null as user_prompt,
        (select string_agg('word' || floor(50000 ^ random())::int, ' ') from generate_series(1, ${wordsEach}) where id is not null) as output
      from unnest(${ids}::uuid[]) as id`,
  );
}
