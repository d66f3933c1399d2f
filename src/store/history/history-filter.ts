import { type RawBuilder, sql } from 'kysely';
import type { EndStatus, Source } from '../../core/execution/execution.ts';
import type { ExecutionErrorCode } from '../../core/failure.ts';
import type { IdRange } from '../../core/history/history-range.ts';
import { type Phrase, readSearch, separators, standalone } from '../../core/history/search.ts';
import { patternOf } from '../../core/history/spelling-pattern.ts';

/** What narrows a history down, as conditions on records and on the buckets that count them. */

export interface HistoryFilter {
  readonly agentIds: readonly string[];
  readonly status: EndStatus | null;
  readonly source: Source | null;
  readonly promptVersionId: string | null;
  readonly model: string | null;
  readonly apiKeyId: string | null;
  readonly errorCode: ExecutionErrorCode | null;
  /** What no bucket counts: null where nothing of it is asked for. */
  readonly contents: ContentsFilter | null;
}

/** Conditions that only a look at each record can tell. Bounds are inclusive. */
export interface ContentsFilter {
  readonly latencyMsMin: number | null;
  readonly latencyMsMax: number | null;
  readonly costUsdMin: string | null;
  readonly costUsdMax: string | null;
  readonly variables: readonly { readonly name: string; readonly value: string }[];
  /** What must stand in the output or the variables, as `readSearch` reads it. */
  readonly words: string | null;
}

/** What is asked of a history. */
export interface HistoryRequest extends HistoryFilter {
  /** Whether the runs that have not ended yet belong to it. */
  readonly includeProcessing: boolean;
}

/** Characters of a record that are searched for words. */
const searchedMax = 200_000;

type Condition = RawBuilder<unknown>;

/** The agents. One is named by itself, since an index gives its records in order only then. */
export function ofAgents(column: string, { agentIds }: HistoryFilter): Condition {
  const [first, ...others] = agentIds;
  if (others.length === 0) return sql`${sql.ref(column)} = ${first ?? null}::uuid`;
  return sql`${sql.ref(column)} = any(${agentIds}::uuid[])`;
}

/** Whether the finer buckets that only the breakdown has are needed. */
export function needsBreakdown(filter: HistoryFilter): boolean {
  const { promptVersionId, model, apiKeyId, errorCode } = filter;
  return [promptVersionId, model, apiKeyId, errorCode].some((one) => one !== null);
}

/** What buckets and records have in common, of a table or alias. */
export function countable(of: string, filter: HistoryFilter): Condition {
  const column = (name: string) => sql.ref(`${of}.${name}`);
  const { status, source, promptVersionId, model, apiKeyId, errorCode } = filter;
  return all([
    status && sql`${column('status')} = ${status}::execution_status`,
    source && sql`${column('source')} = ${source}::execution_source`,
    promptVersionId && sql`${column('prompt_version_id')} = ${promptVersionId}::uuid`,
    model !== null && sql`${column('model')} = ${model}`,
    apiKeyId && sql`${column('api_key_id')} = ${apiKeyId}::uuid`,
    errorCode && sql`${column('error_code')} = ${errorCode}`,
  ]);
}

/** All that a record `e` must fulfil, its agent and its time apart. */
export function matching(filter: HistoryFilter): Condition {
  const { contents } = filter;
  if (contents === null) return countable('e', filter);
  const { latencyMsMin, latencyMsMax, costUsdMin, costUsdMax, variables, words } = contents;
  return all([
    countable('e', filter),
    latencyMsMin !== null && sql`e.latency_ms >= ${latencyMsMin}`,
    latencyMsMax !== null && sql`e.latency_ms <= ${latencyMsMax}`,
    costUsdMin !== null && sql`e.cost_usd >= ${costUsdMin}::numeric`,
    costUsdMax !== null && sql`e.cost_usd <= ${costUsdMax}::numeric`,
    ...variables.map(({ name, value }) => sql`e.input_variables ->> ${name} = ${value}`),
    words !== null && containing(words),
  ]);
}

/** Whether nothing can match, whatever the records hold: a `q` in which no word is left. */
export function matchesNothing({ contents }: HistoryFilter): boolean {
  const words = contents?.words ?? null;
  return words !== null && readSearch(words).length === 0;
}

/** The records of these agents, as `e`, those before the floor being gone. */
export function ended(question: HistoryRequest): Condition {
  return sql`${ofAgents('e.agent_id', question)} and e.status <> 'processing'
    and e.id >= (select id_floor(at) from history_floor)`;
}

/** The runs of these agents that have not ended, as `e`: in the queue, and in their records where those must be asked. */
export function underWay(question: HistoryRequest): Condition {
  const { source } = question;
  if (source === null && !needsBreakdown(question)) {
    return sql`execution_queue e where ${ofAgents('e.agent_id', question)}`;
  }
  return sql`execution_queue q join executions e on e.id = q.id
    where ${ofAgents('q.agent_id', question)} and ${matching(question)}`;
}

/** Ranges as rows, of which a record is in one where `inListedRange` holds. */
export function rangeRows(ranges: readonly IdRange[]): Condition {
  return sql`unnest(${ranges.map((one) => one.fromId)}::uuid[], ${ranges.map((one) => one.toId)}::uuid[])
    as range (from_id, to_id)`;
}

export const inListedRange = sql.raw('e.id >= range.from_id and e.id < range.to_id');

/** From the oldest to the newest of them. */
export function wholeOf(ranges: readonly IdRange[]): IdRange {
  return { fromId: ranges.at(-1)?.fromId ?? '', toId: ranges[0]?.toId ?? '' };
}

export function inRange({ fromId, toId }: IdRange): Condition {
  return sql`e.id >= ${fromId}::uuid and e.id < ${toId}::uuid`;
}

/**
 * In no language: words are compared as they are written, but for their case. By patterns and not by `to_tsvector`, whose
 * parser makes one token of an address, a path or a number with its sign, knows no place beyond the 16,383rd word, and takes
 * ten times as long. `offset 0` keeps PostgreSQL from putting the text together anew for each condition.
 */
function containing(words: string): Condition {
  const alternatives = readSearch(words).map((phrases) => all(phrases.map(standing)));
  if (alternatives.length === 0) return sql`false`;
  return sql`exists (
    select from (
      select left(coalesce(e.output, '') || ${borderCharacter} || coalesce(${variableTexts}, ''), ${searchedMax}) as text offset 0
    ) as searched
    where ${sql.join(alternatives, sql` or `)})`;
}

/** Between output and variables, and between these: no phrase goes on beyond it. Of a private use: no text means anything by it. */
const border = String.raw`\ue000`;
const borderCharacter = sql`chr(57344)`;

/**
 * Names and values. What is nested stays JSON, of whose escapes many senders write all but ASCII as `\uXXXX`. These are
 * undone as those of one string, once every quote and every other escape, which part words, is a blank.
 */
const variableTexts = sql.raw(String.raw`(
  select string_agg(name || ' ' || (case json_typeof(value) when 'string' then value
    else ('"' || regexp_replace(value::text, '\\["\\/bfnrt]|["\n\r\t]', ' ', 'g') || '"')::json end #>> '{}'), chr(57344))
  from json_each(e.input_variables) as variable (name, value))`);

/**
 * No character that means something in a pattern is a part of a word. A version is found without its `v` as well. The pattern
 * has every case itself: which letters PostgreSQL takes for the same depends on the locale of its database.
 */
function standing({ words, excluded }: Phrase): Condition {
  const phrase = words.map(patternOf).join(`[${separators}]+`);
  const version = /^[0-9]/.test(phrase) ? '[vV]?' : '';
  const start = standsAlone.test(words[0] ?? '') ? '' : `(?:^|${wordBorder})`;
  const end = endsAlone.test(words.at(-1) ?? '') ? '' : `(?:${wordBorder}|$)`;
  const pattern = start + version + phrase + end;
  return excluded ? sql`searched.text !~ ${pattern}` : sql`searched.text ~ ${pattern}`;
}

const wordBorder = `[${separators}${standalone}${border}]`;
const standsAlone = new RegExp(`^[${standalone}]`, 'u');
const endsAlone = new RegExp(`[${standalone}]$`, 'u');

function all(conditions: readonly (Condition | false | null | '')[]): Condition {
  const asked = conditions.filter((one): one is Condition => Boolean(one));
  return asked.length === 0 ? sql`true` : sql.join(asked, sql` and `);
}
