import type pg from 'pg';
import { levelMs } from '../src/core/history/statistics.ts';

/** The statistics of a day: counted per piece, written with the last piece. */

/** Maintenance folds the minutes of an old hour with at most this many records, so the seeder omits them. */
const foldedRecordsMax = 500;

/** @param youngFromMs minutes after this time are written, however few records their hour has */
export async function countRows(client: pg.Client, youngFromMs: number): Promise<void> {
  await client.query(countQuarters);
  await client.query(countMinutes, [youngFromMs]);
}

export async function writeBuckets(client: pg.Client): Promise<void> {
  await client.query(addStatistics);
  await client.query(addBreakdown);
}

const counted = `count(*), sum(input_tokens), sum(output_tokens), sum(cost), count(*) filter (where not cost_known)`;
const summed = `sum(records)::bigint as records, sum(input_tokens)::bigint as input_tokens,
  sum(output_tokens)::bigint as output_tokens, sum(cost)::bigint as cost, sum(cost_unknown)::bigint as cost_unknown`;
const floored = (level: keyof typeof levelMs) => `ms - ms % ${levelMs[level]}`;

const countQuarters = `
  insert into seed_quarters
  select agent, ${floored('quarter')}, outcome, origin, version, model, bin, ${counted}
  from seed_rows group by 1, 2, 3, 4, 5, 6, 7`;

const countMinutes = `
  with unfolded as (
    select agent, ${floored('hour')} as hour from seed_rows
    group by 1, 2 having count(*) > ${foldedRecordsMax} or min(ms) >= $1::bigint)
  insert into seed_minutes
  select r.agent, ${floored('minute')}, first_of_status, first_of_source, bin, ${counted}
  from seed_rows r
  join unfolded u on u.agent = r.agent and u.hour = ${floored('hour')}
  join seed_outcomes o on o.position = outcome
  join seed_origins w on w.position = origin
  group by 1, 2, 3, 4, 5`;

/**
 * One row per group, merged from one row per histogram bin. Executions that never started have no bin. Most groups have
 * one bin; only the others use the merge function of the service.
 */
const mergeBins = (from: string, kind: string) => `
  select ${kind}, records, input_tokens, output_tokens, cost * 0.0000000001 as cost_usd, cost_unknown,
    case when bins is null then '{}'
      when cardinality(bins) = 1 then array_fill(counts[1], array[1], array[bins[1] + 1])
      else (select sum_counts(array_fill(n, array[1], array[at + 1])) from unnest(bins, counts) as one (at, n))
      end as latency
  from (
    select ${kind}, ${summed}, array_agg(bin) filter (where bin is not null) as bins,
      array_agg(records) filter (where bin is not null) as counts
    from ${from} group by ${kind}) as kinds`;

const sumColumns = `agent_id, level, bucket, status, source, occurred, recorded, input_tokens, output_tokens, cost_usd,
  cost_unknown, latency`;
const keys = {
  statistics: 'agent_id, level, bucket, status, source',
  breakdown:
    'agent_id, level, bucket, status, source, prompt_version_id, model, api_key_id, error_code',
};

/** In the lock order of the service, which may write today's buckets at the same time. */
const inOrder = 'order by agent, level collate "C", ms, outcome, origin';
const onConflict = (table: keyof typeof keys) => `
  on conflict (${keys[table]}) do update set occurred = s.occurred + excluded.occurred,
    recorded = s.recorded + excluded.recorded, input_tokens = s.input_tokens + excluded.input_tokens,
    output_tokens = s.output_tokens + excluded.output_tokens, cost_usd = s.cost_usd + excluded.cost_usd,
    cost_unknown = s.cost_unknown + excluded.cost_unknown, latency = add_counts(s.latency, excluded.latency)`;

const sums = `records, records, input_tokens, output_tokens, cost_usd, cost_unknown, latency`;

const addStatistics = `
  insert into statistics as s (${sumColumns})
  with hours as materialized (
    select 'hour' as level, agent, ${floored('hour')} as ms, first_of_status as outcome, first_of_source as origin, bin,
      ${summed}
    from seed_quarters join seed_outcomes o on o.position = outcome join seed_origins w on w.position = origin
    group by 2, 3, 4, 5, 6),
  counted as (
    select 'minute' as level, * from seed_minutes
    union all select * from hours
    union all select 'day', agent, ${floored('day')}, outcome, origin, bin, ${summed} from hours group by 2, 3, 4, 5, 6)
  select g.id, level, to_timestamp(ms / 1000), status, source, ${sums}
  from (${mergeBins('counted', 'agent, level, ms, outcome, origin')}) as kinds
  join seed_outcomes o on o.position = outcome
  join seed_origins w on w.position = origin
  join seed_agents g on g.position = agent
  ${inOrder}
  ${onConflict('statistics')}`;

const addBreakdown = `
  insert into breakdown as s (${sumColumns}, prompt_version_id, model, api_key_id, error_code)
  with counted as (
    select 'quarter' as level, * from seed_quarters
    union all select 'day', agent, ${floored('day')}, outcome, origin, version, model, bin, ${summed}
    from seed_quarters group by 2, 3, 4, 5, 6, 7, 8)
  select g.id, level, to_timestamp(ms / 1000), status, source, ${sums}, v.id, m.name, key_id, error_code
  from (${mergeBins('counted', 'agent, level, ms, outcome, origin, version, model')}) as kinds
  join seed_agents g on g.position = agent
  join seed_outcomes o on o.position = outcome
  join seed_origins w on w.position = origin
  join seed_versions v on v.position = version
  join seed_models m on m.position = model
  ${inOrder}, version, model
  ${onConflict('breakdown')}`;
