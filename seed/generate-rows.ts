import type pg from 'pg';
import type { Hour } from './calendar.ts';
import { charsEachToken } from './day-tables.ts';
import { models, unauthorized } from './outcomes.ts';
import {
  agentsOf,
  boundsOf,
  originsOf,
  otherBounds,
  outcomeBounds,
  type Population,
} from './population.ts';

/** Hours of a day whose rows one statement generates. */
export interface Piece {
  readonly hours: Hour[];
  /** Number of executions of each kind before this piece. */
  readonly ownBefore: number;
  readonly othersBefore: number;
}

/** Generates the rows of these hours in id order. */
export async function generateRows(
  client: pg.Client,
  { hours, ownBefore, othersBefore }: Piece,
  { population, snippets }: { population: Population; snippets: number },
): Promise<void> {
  const { own, others, span } = population;
  const [first] = others;
  await client.query('truncate seed_rows');
  await client.query(draw, [
    hours.map(({ fromMs }) => fromMs),
    hours.map(({ toMs }) => toMs),
    hours.map((hour) => hour.own),
    hours.map((hour) => hour.others),
    before(
      hours.map((hour) => hour.own),
      ownBefore,
    ),
    before(
      hours.map((hour) => hour.others),
      othersBefore,
    ),
    population.rareOwn,
    population.rareOthers,
    outcomeBounds(),
    boundsOf(originsOf(own).map(({ weight }) => weight)),
    first ? boundsOf(originsOf(first).map(({ weight }) => weight)) : [],
    otherBounds(population),
    boundsOf(models.map(({ weight }) => weight)),
    originsOf(own).length,
    own.versions.length,
    first?.versions.length ?? 0,
    span.fromMs,
    span.toMs,
    snippets,
    agentsOf(population).indexOf(own),
  ]);
}

function before(counts: readonly number[], first: number): number[] {
  let sum = first;
  return counts.map((count) => {
    sum += count;
    return sum - count;
  });
}

/** A normally distributed value. `random_normal()` does not exist in every version. */
const normal = 'sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())';

/** References are rare tokens of a letter and digits. Half of the texts contain one. */
const reference = 'case when random() < 0.5 then (random() * 233999999)::int end';
/** ` See K1234567.` */
const referenceChars = 14;
/** `customer-1234` */
const customerChars = 13;

/**
 * Version and variant of the id follow UUIDv7; `gen_random_uuid()` would take twice as long.
 * From the inside out: random values, their meaning, their duration and cost. Only the innermost
 * level is random, so the planner may merge the levels.
 */
const draw = `
  insert into seed_rows
  select id, ms, agent, outcome, origin, version, model, customer, question, answer, question_reference,
    answer_reference, input_tokens, output_tokens, input_tokens * input_price + output_tokens * output_price,
    called or not started, case when started then ms + wait_ms end, latency_ms, latency_bin(latency_ms)
  from (
    select *, case when started then coalesce(fixed_latency_ms + (share * 200)::int,
      (greatest(40, least(290000, model_latency_ms * (0.5 + coalesce(answer_chars / 800.0::float8, 0.5))
        * exp(0.55 * latency_normal)))
        * case when status = 'canceled' then share else 1 end)::int) end as latency_ms
    from (
      select drawn.*, o.status, o.called, started_share < o.started as started, o.latency_ms as fixed_latency_ms,
        m.latency_ms as model_latency_ms, m.input_price, m.output_price,
        case when keeps_variables then drawn_question end as question,
        case when o.status = 'success' then drawn_answer end as answer,
        case when o.status = 'success' then drawn_answer_chars end as answer_chars,
        case when called then system_tokens + ceil((user_chars + ${customerChars} + q.chars
          + case when question_reference is null then 0 else ${referenceChars} end)
          / ${charsEachToken}::float8)::int else 0 end as input_tokens,
        case when o.status = 'success' then ceil(drawn_answer_chars / ${charsEachToken}::float8)::int else 0 end
          as output_tokens
      from (
        select draws.*, case when own then $20::int else rank + (rank >= $20)::int end as agent,
          ('0' || to_hex(ms) || to_hex(id_a) || to_hex(id_b))::uuid as id, a.chars
            + case when answer_reference is null then 0 else ${referenceChars} end as drawn_answer_chars,
          floor(case when own then $15::int else $16::int end * ((ms - $17::bigint) / ($18 - $17)::float8))::int
            + case when own then 0 else $15 end as version
        from (
          select from_ms + floor(random() * (to_ms - from_ms))::bigint as ms,
            28672 + floor(random() * 4096)::int as id_a,
            '-9223372036854775808'::bigint + floor(random() * 4503599627370496)::bigint * 1024
              + floor(random() * 1024)::bigint as id_b,
            n <= own as own, width_bucket(random(), $12::float8[]) as rank,
            case when case when n <= own then own_before + n - 1 = any ($7::bigint[])
              else others_before + n - own - 1 = any ($8::bigint[]) end
              then ${unauthorized} else width_bucket(random(), $9::float8[]) end as outcome,
            case when n <= own then width_bucket(random(), $10::float8[])
              else $14::int + width_bucket(random(), $11::float8[]) end as origin,
            width_bucket(random(), $13::float8[]) as model, floor(4000 * random() ^ 2)::int as customer,
            floor(random() * $19::int)::int as drawn_question,
            $19 + floor(random() * $19)::int as drawn_answer,
            ${reference} as question_reference, ${reference} as answer_reference,
            greatest(1, least(5000, 8 * exp(0.8 * ${normal})))::int as wait_ms,
            ${normal} as latency_normal, random() as started_share, random() as share
          from unnest($1::bigint[], $2::bigint[], $3::int[], $4::int[], $5::bigint[], $6::bigint[])
              as hour (from_ms, to_ms, own, others, own_before, others_before),
            generate_series(1, own + others) as n
        ) as draws
        join seed_snippets a on a.position = drawn_answer
      ) as drawn
      join seed_outcomes o on o.position = outcome
      join seed_models m on m.position = model
      join seed_versions v on v.position = version
      join seed_snippets q on q.position = drawn_question
    ) as known
  ) as timed
  order by id`;
