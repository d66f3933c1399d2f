import type pg from 'pg';
import { levelMs } from '../src/core/statistics.ts';
import { type DaySums, type Sums, sumDay } from './buckets.ts';
import type { Day, Span } from './calendar.ts';
import { lottery } from './chance.ts';
import { copyIn } from './copy.ts';
import { models, outcomes, sources } from './outcomes.ts';
import { dollars, makeRecord, recordColumns, type SeededAgent } from './record.ts';

/** One day of records with its statistics, in one transaction: whatever interrupts it, the two agree. */

export interface Population {
  readonly own: SeededAgent;
  readonly others: readonly SeededAgent[];
  readonly span: Span;
  readonly nowMs: number;
  /** Which of each kind, counted through, are of the status that is rare. */
  readonly rareOwn: ReadonlySet<number>;
  readonly rareOthers: ReadonlySet<number>;
}

export interface Writing {
  readonly signal: AbortSignal;
  /** Told of rows that are under way, now and then. */
  readonly onRows: (count: number) => void;
}

export async function writeDay(
  client: pg.Client,
  day: Day,
  population: Population,
  { signal, onRows }: Writing,
): Promise<void> {
  const sums = sumDay(day.fromMs, population.nowMs - 2 * levelMs.day);
  const agents = [population.own, ...population.others];
  await client.query('begin');
  try {
    const records = recordsOf(day, population, { sums, onRows });
    await copyIn(client, `copy executions (${recordColumns}) from stdin`, records, signal);
    for (const table of ['statistics', 'breakdown'] as const) {
      // By way of a table of one's own: the service may be writing the buckets of today.
      await client.query(`create temp table added (like ${table})`);
      const lines = linesOf(sums[table](), { agents, wide: table === 'breakdown' });
      await copyIn(client, `copy added (${columns[table]}) from stdin`, lines, signal);
      await client.query(addTo(table));
      await client.query('drop table added');
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** In the order of time, of all agents mixed, as they would have been accepted. */
function* recordsOf(
  { hours, ownBefore, othersBefore }: Day,
  { own, others, span, rareOwn, rareOthers }: Population,
  { sums, onRows }: { sums: DaySums; onRows: Writing['onRows'] },
): Generator<string> {
  const drawOther = lottery(others.map((_, rank) => 1 / (rank + 10) ** 0.8));
  let [ownAt, othersAt, told] = [ownBefore, othersBefore, ownBefore + othersBefore];
  for (const hour of hours) {
    // Twice the time, and one more for the executions of others: so both are sorted at once.
    const moments = new Float64Array(hour.own + hour.others);
    for (let at = 0; at < moments.length; at++) {
      const atMs = hour.fromMs + Math.floor(Math.random() * (hour.toMs - hour.fromMs));
      moments[at] = atMs * 2 + (at < hour.own ? 0 : 1);
    }
    for (const moment of moments.sort()) {
      const isOwn = moment % 2 === 0;
      const atMs = Math.floor(moment / 2);
      const other = isOwn ? 0 : drawOther();
      const { line, added } = makeRecord((isOwn ? own : others[other]) ?? own, {
        agent: isOwn ? 0 : other + 1,
        atMs,
        share: (atMs - span.fromMs) / (span.toMs - span.fromMs),
        rare: isOwn ? rareOwn.has(ownAt) : rareOthers.has(othersAt),
      });
      if (isOwn) ownAt++;
      else othersAt++;
      sums.add(added);
      if (ownAt + othersAt - told >= 1_000) {
        onRows(ownAt + othersAt - told);
        told = ownAt + othersAt;
      }
      yield line;
    }
  }
  onRows(ownAt + othersAt - told);
}

const sumColumns = `agent_id, level, bucket, status, source, happened, recorded, input_tokens, output_tokens, cost_usd,
  latency`;
const keys = {
  statistics: 'agent_id, level, bucket, status, source',
  breakdown:
    'agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code',
};
const columns = {
  statistics: sumColumns,
  breakdown: `${sumColumns}, prompt_version_id, model, api_key_id, error_code`,
};

function addTo(table: keyof typeof columns): string {
  return `insert into ${table} as s (${columns[table]})
    select ${columns[table]} from added
    order by agent_id, level collate "C", bucket, status::text collate "C", source::text collate "C"
    on conflict (${keys[table]}) do update set happened = s.happened + excluded.happened,
      recorded = s.recorded + excluded.recorded, input_tokens = s.input_tokens + excluded.input_tokens,
      output_tokens = s.output_tokens + excluded.output_tokens, cost_usd = s.cost_usd + excluded.cost_usd,
      latency = add_counts(s.latency, excluded.latency)`;
}

function* linesOf(
  all: readonly Sums[],
  { agents, wide }: { agents: readonly SeededAgent[]; wide: boolean },
): Generator<string> {
  for (const one of all) {
    const { terms } = one;
    const agent = agents[one.agent];
    const { status, errorCode } = outcomes[terms.outcome] ?? {};
    const fields = [
      agent?.id,
      one.level,
      new Date(one.bucketMs).toISOString(),
      status,
      sources[terms.source],
      one.records,
      one.records,
      one.inputTokens,
      one.outputTokens,
      dollars(one.cost),
      latencyText(one.bins),
    ];
    if (wide) {
      const version = agent?.versions[terms.version];
      const key = agent?.keyIds[terms.key] ?? '\\N';
      fields.push(version?.id, models[terms.model]?.name, key, errorCode ?? '\\N');
    }
    yield `${fields.join('\t')}\n`;
  }
}

/** From the lowest bin that occurs to the highest; a bin's subscript is one more than its number. */
function latencyText(bins: readonly number[]): string {
  if (bins.length === 0) return '{}';
  const counts: number[] = [];
  for (const bin of bins) counts[bin] = (counts[bin] ?? 0) + 1;
  const lowest = counts.findIndex((count) => count > 0);
  const listed = Array.from(counts, (count) => count ?? 0).slice(lowest);
  return `[${lowest + 1}:${counts.length}]={${listed.join(',')}}`;
}
