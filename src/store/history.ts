import { type RawBuilder, sql } from 'kysely';
import {
  bucketPiece,
  type IdRange,
  type Piece,
  type Span,
  type StepLevel,
} from '../core/history.ts';
import { levelMs } from '../core/statistics.ts';
import type { Db, Trx } from './db.ts';
import {
  detailed,
  type ExecutionDetailRow,
  type ExecutionRow,
  listed,
  progress,
} from './executions.ts';
import {
  countable,
  type HistoryFilter,
  matching,
  needsBreakdown,
  ofAgents,
} from './history-filter.ts';

/** Counting and paging the records of agents, every statement in the snapshot of the transaction it is given. */

export interface HistoryQuestion extends HistoryFilter {
  /** Whether the runs that have not ended yet belong to it. */
  readonly includeProcessing: boolean;
}

export function inSnapshot<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(work);
}

/** A snapshot that lasts until it is given back, which the caller must see to. */
export async function openSnapshot(
  db: Db,
): Promise<{ readonly trx: Trx; giveBack(): Promise<void> }> {
  const trx = await db
    .startTransaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute();
  return {
    trx,
    async giveBack() {
      await trx.rollback().execute();
    },
  };
}

/** The levels of the buckets that can answer a question, coarsest first. */
export function levelsOf(question: HistoryQuestion): readonly StepLevel[] {
  return needsBreakdown(question) ? ['day', 'quarter'] : ['day', 'hour', 'minute'];
}

/** For each span its buckets in which something matches, newest first, and how many records there are in all of it. */
export async function countBuckets(
  trx: Trx,
  question: HistoryQuestion,
  spans: readonly Span[],
): Promise<{ pieces: Piece[]; all: number }[]> {
  if (spans.length === 0) return [];
  const { rows } = await sql<{
    place: number;
    startMs: number;
    matching: number;
    inSpan: number;
    all: number;
  }>`
    select place, (extract(epoch from bucket) * 1000)::float8 as start_ms, matching, "all", in_span
    from (
      select span.place, b.bucket, sum(b.matching) as matching, sum(b.every) as "all",
        sum(sum(b.every)) over (partition by span.place) as in_span
      from unnest(${spans.map(({ level }) => level)}::text[],
          ${spans.map(({ fromMs }) => new Date(fromMs))}::timestamptz[],
          ${spans.map(({ toMs }) => new Date(toMs))}::timestamptz[])
        with ordinality as span (level, from_at, to_at, place)
      cross join lateral (${bucketsOf(question)}) as b
      group by span.place, b.bucket) as counted
    where matching > 0
    order by place, bucket desc`.execute(trx);
  const found = spans.map(() => ({ pieces: [] as Piece[], all: 0 }));
  for (const { place, startMs, matching, inSpan, all } of rows) {
    const one = found[place - 1];
    const level = spans[place - 1]?.level;
    if (one === undefined || level === undefined) continue;
    one.all = Number(inSpan);
    one.pieces.push(bucketPiece(level, startMs, { matching: Number(matching), all: Number(all) }));
  }
  return found;
}

function bucketsOf(question: HistoryQuestion): RawBuilder<unknown> {
  const table = sql.table(needsBreakdown(question) ? 'breakdown' : 'statistics');
  const recorded = sql`
    select s.bucket, case when ${countable('s', question)} then s.recorded else 0 end as matching, s.recorded as every
    from ${table} s
    where ${ofAgents('s.agent_id', question)} and s.level = span.level
      and s.bucket >= span.from_at and s.bucket < span.to_at
      and s.bucket >= (select at from history_floor)`;
  if (!question.includeProcessing) return recorded;
  return sql`${recorded} union all
    select date_bin(make_interval(secs => ${stepSeconds}), id_time(e.id), 'epoch'), 1, 1
    from ${underWay(question)}
      and e.id >= id_floor(span.from_at) and e.id < id_floor(span.to_at)`;
}

const stepSeconds = sql.raw(
  `case span.level ${Object.entries(levelMs)
    .map(([level, ms]) => `when '${level}' then ${ms / 1_000}`)
    .join(' ')} end`,
);

/** The ranges in which something matches, by a look at the index of each record. */
export async function countCuts(
  trx: Trx,
  question: HistoryQuestion,
  cuts: readonly IdRange[],
): Promise<Piece[]> {
  if (cuts.length === 0) return [];
  const counts = cuts.map(
    (range) => sql`
      select ${range.fromId} as from_id, ${range.toId} as to_id,
        (select count(*) from executions e where ${ended(question)} and ${inRange(range)} and ${matching(question)}
          and e.id >= (select id_floor(at) from history_floor))
        ${question.includeProcessing ? sql`+ (select count(*) from ${underWay(question)} and ${inRange(range)})` : sql``}
        as matching`,
  );
  const { rows } = await sql<
    IdRange & { matching: number }
  >`${sql.join(counts, sql` union all `)}`.execute(trx);
  return rows
    .filter((row) => row.matching > 0)
    .map(({ fromId, toId, matching: n }) => ({ level: null, fromId, toId, matching: n, all: n }));
}

/** How many records of these ranges match, by a look at each. */
export async function countRecords(
  trx: Trx,
  question: HistoryQuestion,
  ranges: readonly IdRange[],
): Promise<number> {
  if (ranges.length === 0) return 0;
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${rangesFrom(ranges)}
    cross join lateral (
      select from executions e where ${ended(question)} and ${inNamedRange} and ${inRange(wholeOf(ranges))}
        and ${matching(question)}) as one`.execute(trx);
  return rows[0]?.total ?? 0;
}

interface PageOfRanges {
  readonly ranges: readonly IdRange[];
  readonly skip: number;
  readonly take: number;
}

/** The matching records of these ranges, newest first, from the `skip`th on. */
export function readRecords(
  trx: Trx,
  question: HistoryQuestion,
  page: PageOfRanges,
): Promise<ExecutionRow[]> {
  return read(trx, question, page, sql`${listed}, ${progress}`);
}

/** The same with all there is of each. */
export function readWholeRecords(
  trx: Trx,
  question: HistoryQuestion,
  page: PageOfRanges,
): Promise<ExecutionDetailRow[]> {
  return read(trx, question, page, sql`${listed}, ${progress}, ${detailed}`);
}

async function read<Row>(
  trx: Trx,
  question: HistoryQuestion,
  { ranges, skip, take }: PageOfRanges,
  columns: RawBuilder<unknown>,
): Promise<Row[]> {
  if (ranges.length === 0) return [];
  // The bounds of the whole say which partitions are looked at.
  const whole = inRange(wholeOf(ranges));
  // Their ids first, from the index alone.
  const picked =
    ranges.length === 1
      ? idsOf(question, whole, skip + take)
      : sql`select one.id from ${rangesFrom(ranges)}
          cross join lateral (${idsOf(question, sql`${inNamedRange} and ${whole}`, skip + take)}) as one`;
  const { rows } = await sql<Row>`
    with picked as materialized (
      select id from (${picked}) as ids order by id desc limit ${take} offset ${skip})
    select ${columns}
    from picked join executions e on e.id = picked.id and ${whole}
      left join run_queue q on q.id = e.id
    order by e.id desc`.execute(trx);
  return rows;
}

/** The newest ids that match and lie where `place` says. */
function idsOf(
  question: HistoryQuestion,
  place: RawBuilder<unknown>,
  limit: number,
): RawBuilder<unknown> {
  const recorded = sql`(select e.id from executions e
    where ${ended(question)} and ${place} and ${matching(question)}
    order by e.id desc limit ${limit})`;
  if (!question.includeProcessing) return recorded;
  return sql`${recorded} union all
    (select e.id from ${underWay(question)} and ${place} order by e.id desc limit ${limit})`;
}

function ended(question: HistoryQuestion): RawBuilder<unknown> {
  return sql`${ofAgents('e.agent_id', question)} and e.status <> 'processing'`;
}

/** The runs of these agents that have not ended, as `e`: in the queue, and in their records where those must be asked. */
function underWay(question: HistoryQuestion): RawBuilder<unknown> {
  const { source } = question;
  if (source === null && !needsBreakdown(question)) {
    return sql`run_queue e where ${ofAgents('e.agent_id', question)}`;
  }
  return sql`run_queue q join executions e on e.id = q.id
    where ${ofAgents('q.agent_id', question)} and ${matching(question)}`;
}

function rangesFrom(ranges: readonly IdRange[]): RawBuilder<unknown> {
  return sql`unnest(${ranges.map((one) => one.fromId)}::uuid[], ${ranges.map((one) => one.toId)}::uuid[])
    as range (from_id, to_id)`;
}

const inNamedRange = sql.raw('e.id >= range.from_id and e.id < range.to_id');

/** From the oldest to the newest of them. */
function wholeOf(ranges: readonly IdRange[]): IdRange {
  return { fromId: ranges.at(-1)?.fromId ?? '', toId: ranges[0]?.toId ?? '' };
}

function inRange({ fromId, toId }: IdRange): RawBuilder<unknown> {
  return sql`e.id >= ${fromId}::uuid and e.id < ${toId}::uuid`;
}
