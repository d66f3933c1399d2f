import {
  type ExecutionStatus,
  isPlayground,
  type Source,
  type StoredSource,
  sourceOf,
  storedSources,
} from '../../../core/execution/execution.ts';
import type { ExecutionErrorCode } from '../../../core/failure.ts';
import type { IdRange } from '../../../core/history/history-range.ts';
import { type Phrase, readSearch, separators, standalone } from '../../../core/history/search.ts';
import { aboveFloor } from '../../../db/id-bounds.ts';
import { patternOf } from '../../../db/spelling-pattern.ts';
import { type Sql, sql } from '../../../db/sql.ts';

/** The filter of a history, as SQL conditions on records and on the statistics buckets that count them. */

export interface HistoryFilter {
  readonly agentIds: readonly string[];
  /** Each of these lists: any of its values; null for all. */
  readonly status: readonly ExecutionStatus[] | null;
  readonly source: readonly Source[] | null;
  /** Whether the executions are marked as those of a playground; null for both. */
  readonly playground: boolean | null;
  readonly promptVersionId: readonly string[] | null;
  readonly model: readonly string[] | null;
  readonly apiKeyId: readonly string[] | null;
  readonly errorCode: readonly ExecutionErrorCode[] | null;
  /** Few records have the same user or session: they are found and counted by an index, not by buckets. */
  readonly user: readonly string[] | null;
  readonly session: string | null;
  /** Likewise these executions, those that run this one again, and those of a batch. */
  readonly executionId: readonly string[] | null;
  readonly rerunOf: string | null;
  readonly batchId: string | null;
  /** Counted by `label_buckets`. */
  readonly label: Label | null;
  /** Filters that no bucket counts; null if the request has none. */
  readonly contents: ContentsFilter | null;
}

/** A tag, or the value of a name in the metadata. */
export interface Label {
  readonly kind: 'tag' | 'metadata';
  /** Empty for a tag. */
  readonly name: string;
  readonly value: string;
}

/** Filters that require reading each record. Bounds are inclusive. */
export interface ContentsFilter {
  readonly latencyMsMin: number | null;
  readonly latencyMsMax: number | null;
  readonly costUsdMin: string | null;
  readonly costUsdMax: string | null;
  readonly providerRequestId: string | null;
  readonly variables: readonly { readonly name: string; readonly value: string }[];
  /** Further labels: buckets count one. */
  readonly labels: readonly Label[];
  /** A search in output and variables, in the syntax of `readSearch`. */
  readonly words: string | null;
}

/** A request for a history. */
export interface HistoryRequest extends HistoryFilter {
  /** Only these records, which the search index found; all if absent. */
  readonly among?: readonly string[];
  /** Whether to include executions that have not ended. */
  readonly includeProcessing: boolean;
}

/** The number of characters of a record that a search covers. */
export const searchedMax = 200_000;

type Condition = Sql;

/** SQL: belongs to these agents. */
export function ofAgents(column: string, { agentIds }: HistoryFilter): Condition {
  return oneOf(sql.ref(column), agentIds, 'uuid');
}

/** Whether the request needs the finer buckets of the breakdown. */
export function needsBreakdown(filter: HistoryFilter): boolean {
  const { promptVersionId, model, apiKeyId, errorCode, label } = filter;
  const finer = [promptVersionId, model, apiKeyId, errorCode, label];
  return isIndexed(filter) || finer.some((one) => one !== null);
}

/** Whether an index finds the records, so that they need no buckets to be counted. */
export function isIndexed(filter: HistoryFilter): boolean {
  const { user, session, executionId, rerunOf, batchId } = filter;
  return (user ?? session ?? executionId ?? rerunOf ?? batchId) !== null;
}

/** SQL: conditions that apply to both buckets and records of this table or alias. */
export function countable(of: string, filter: HistoryFilter): Condition {
  const column = (name: string) => sql.ref(`${of}.${name}`);
  const { status, promptVersionId, model, apiKeyId, errorCode } = filter;
  return all([
    status && oneOf(column('status'), status, 'execution_status'),
    hasSource(column('source'), filter),
    promptVersionId && oneOf(column('prompt_version_id'), promptVersionId, 'uuid'),
    model && oneOf(column('model'), model, 'text'),
    apiKeyId && oneOf(column('api_key_id'), apiKeyId, 'uuid'),
    errorCode && oneOf(column('error_code'), errorCode, 'text'),
  ]);
}

/**
 * SQL: the stored source has one of the sources and the mark of the filter. Names the fewer values, also because the planner
 * takes each value for rare until it has statistics.
 */
export function hasSource(
  column: Sql,
  { source, playground }: Pick<HistoryFilter, 'source' | 'playground'>,
): Condition {
  const matches = (one: StoredSource) =>
    (source?.includes(sourceOf(one)) ?? true) &&
    (playground === null || isPlayground(one) === playground);
  const [found, others] = [
    storedSources.filter(matches),
    storedSources.filter((one) => !matches(one)),
  ];
  if (others.length === 0) return sql`true`;
  if (found.length <= others.length) return oneOf(column, found, 'execution_source');
  return sql`${column} <> all(${others}::execution_source[])`;
}

/** SQL: the column has one of these values. A single value uses `=`, because only then an index returns its records in order. */
function oneOf(column: Sql, values: readonly string[], type: string): Condition {
  const [first, ...others] = values;
  if (others.length === 0) return sql`${column} = ${first ?? null}::${sql.raw(type)}`;
  return sql`${column} = any(${values}::${sql.raw(type)}[])`;
}

/** SQL: all conditions on a record `e` except for agent and time. */
export function matchesFilter(filter: HistoryFilter): Condition {
  const { contents } = filter;
  const { executionId, rerunOf, batchId, label } = filter;
  const bounded = all([
    countable('e', filter),
    hasUserOrSession(filter),
    executionId && oneOf(sql.ref('e.id'), executionId, 'uuid'),
    rerunOf !== null && sql`e.rerun_of = ${rerunOf}::uuid`,
    batchId !== null && sql`e.batch_id = ${batchId}::uuid`,
    hasLabel(label),
  ]);
  if (contents === null) return bounded;
  const { latencyMsMin, latencyMsMax, costUsdMin, costUsdMax } = contents;
  const { providerRequestId, variables, labels, words } = contents;
  const figures = [latencyMsMin, latencyMsMax, costUsdMin, costUsdMax];
  return all([
    bounded,
    // Until its end, an execution has neither latency nor cost.
    figures.some((figure) => figure !== null) && sql`e.status <> 'processing'`,
    latencyMsMin !== null && sql`e.latency_ms >= ${latencyMsMin}`,
    latencyMsMax !== null && sql`e.latency_ms <= ${latencyMsMax}`,
    costUsdMin !== null && sql`e.cost_usd >= ${costUsdMin}::numeric`,
    costUsdMax !== null && sql`e.cost_usd <= ${costUsdMax}::numeric`,
    providerRequestId !== null && sql`e.provider_request_id = ${providerRequestId}`,
    ...variables.map(({ name, value }) => sql`e.input_variables ->> ${name} = ${value}`),
    ...labels.map(hasLabel),
    words !== null && containsSearch(words),
  ]);
}

/** SQL: the record is of this user and session. Their indexes are by workspace, so that one search covers all its agents. */
function hasUserOrSession(filter: HistoryFilter): Condition | null {
  const { user, session, agentIds } = filter;
  if (user === null && session === null) return null;
  return all([
    sql`e.workspace_id = (select a.workspace_id from agents a where a.id = ${agentIds[0] ?? null}::uuid)`,
    user && oneOf(sql.ref('e.end_user'), user, 'text'),
    session !== null && sql`e.session = ${session}`,
  ]);
}

function hasLabel(label: Label | null): Condition | null {
  if (label === null) return null;
  const { kind, name, value } = label;
  if (kind === 'tag') return sql`e.tags @> ${[value]}::text[]`;
  return sql`e.metadata ->> ${name} = ${value}`;
}

/** SQL: buckets `s` of this label. The cheap comparisons come first, for the changes that are not folded yet. */
export function ofLabel({ kind, name, value }: Label): Condition {
  return sql`s.kind = ${kind} and s.name = ${name} and s.value = ${value}
    and s.label = label_id(${kind}, ${name}, ${value})`;
}

/** Whether nothing can match: the search contains no word. */
export function matchesNothing({ contents }: HistoryFilter): boolean {
  const words = contents?.words ?? null;
  return words !== null && readSearch(words).length === 0;
}

/** SQL: records `e` of these agents that were not removed with their month. */
export function endedRecords(request: HistoryRequest): Condition {
  const found = request.among && sql`e.id = any(${request.among}::uuid[])`;
  return all([sql`${ofAgents('e.agent_id', request)} and ${aboveFloor}`, found]);
}

/** Whether the index of records by agent decides all filters that buckets count: it knows status and source. */
export function isPickedByIndex(request: HistoryRequest): boolean {
  const { status, source, among } = request;
  return (status ?? source) !== null && among === undefined && !needsBreakdown(request);
}

/**
 * SQL: these columns of each record `e` that matches in these ranges. Records are wide and their index is narrow: where the
 * index can, it picks the matches, and no other record is read.
 */
export function endedMatches(
  request: HistoryRequest,
  ranges: readonly IdRange[],
  columns: Sql,
): Condition {
  const enclosing = inRange(enclosingRange(ranges));
  const inBounds = sql`${endedRecords(request)} and ${inListedRange} and ${enclosing}`;
  if (!isPickedByIndex(request)) {
    return sql`
      select one.* from ${rangeRows(ranges)}
      cross join lateral (
        select ${columns} from executions e where ${inBounds} and ${matchesFilter(request)}) as one`;
  }
  return sql`
    select ${columns} from executions e
    where ${enclosing} and ${matchesFilter(request)} and e.id = any(array(
      select one.id from ${rangeRows(ranges)}
      cross join lateral (select e.id from executions e where ${inBounds} and ${countable('e', request)}) as one))`;
}

/** SQL: executions `e` of these agents that have not ended. Texts that are not to be stored cannot be searched. */
export function processingFrom(request: HistoryRequest): Condition {
  const searchable = (request.contents?.words ?? null) === null ? sql`true` : sql`e.stores_bodies`;
  return sql`live_executions e
    where ${ofAgents('e.agent_id', request)} and ${matchesFilter(request)} and ${searchable}`;
}

/** SQL: these columns of each execution `e` that has not ended and matches in these ranges. */
export function processingMatches(
  request: HistoryRequest,
  ranges: readonly IdRange[],
  columns: Sql,
): Condition {
  return sql`
    select one.* from ${rangeRows(ranges)}
    cross join lateral (
      select ${columns} from ${processingFrom(request)} and ${inListedRange} and ${inRange(enclosingRange(ranges))}) as one`;
}

/** SQL: the ranges as rows, for `inListedRange`. */
export function rangeRows(ranges: readonly IdRange[]): Condition {
  return sql`unnest(${ranges.map((one) => one.fromId)}::uuid[], ${ranges.map((one) => one.toId)}::uuid[])
    as range (from_id, to_id)`;
}

export const inListedRange = sql`e.id >= range.from_id and e.id < range.to_id`;

/** The range from the oldest to the newest of these ranges. */
export function enclosingRange(ranges: readonly IdRange[]): IdRange {
  return { fromId: ranges.at(-1)?.fromId ?? '', toId: ranges[0]?.toId ?? '' };
}

export function inRange({ fromId, toId }: IdRange): Condition {
  return sql`e.id >= ${fromId}::uuid and e.id < ${toId}::uuid`;
}

/**
 * Language-independent search: words are compared literally, ignoring case. Patterns instead of `to_tsvector`, whose parser
 * treats an address, a path or a signed number as one token, stops at word 16,383 and takes ten times as long. `offset 0`
 * builds the text only once for all conditions.
 */
function containsSearch(words: string): Condition {
  const alternatives = readSearch(words).map((phrases) => all(phrases.map(matchesPhrase)));
  if (alternatives.length === 0) return sql`false`;
  return sql`exists (
    select from (select ${searchedText} as text offset 0) as searched
    where ${sql.join(alternatives, sql` or `)})`;
}

/** Separates output and variables; no phrase matches across it. A private-use character, so no text contains it. */
const border = String.raw`\ue000`;
const borderCharacter = sql`chr(57344)`;

/**
 * Names and values of the variables. Nested values stay JSON. Many senders escape non-ASCII characters as `\uXXXX`; to undo
 * this, all other escapes and quotes become spaces, and the rest is parsed as one JSON string.
 */
const variableTexts = sql.raw(String.raw`(
  select string_agg(name || ' ' || (case json_typeof(value) when 'string' then value
    else ('"' || regexp_replace(value::text, '\\["\\/bfnrt]|["\n\r\t]', ' ', 'g') || '"')::json end #>> '{}'), chr(57344))
  from json_each(e.input_variables) as variable (name, value))`);

/** SQL: the text of a record `e` that a search covers. */
export const searchedText = sql`left(coalesce(e.output, e.partial_text, '') || ${borderCharacter} || coalesce(${variableTexts}, ''),
  ${sql.lit(searchedMax)})`;

/**
 * Words contain no special characters of patterns. A version also matches without its `v`. The pattern lists both cases
 * itself, because the case folding of PostgreSQL depends on the locale of its database.
 */
function matchesPhrase({ words, excluded }: Phrase): Condition {
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

function all(conditions: readonly (Condition | false | null | undefined | '')[]): Condition {
  const given = conditions.filter((one): one is Condition => Boolean(one));
  return given.length === 0 ? sql`true` : sql.join(given, sql` and `);
}
