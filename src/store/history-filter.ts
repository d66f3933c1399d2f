import { type RawBuilder, sql } from 'kysely';
import type { EndStatus, Source } from '../core/execution.ts';
import type { RunFailureCode } from '../core/failure.ts';

/** What narrows a history down, as conditions on records and on the buckets that count them. */

export interface HistoryFilter {
  readonly agentIds: readonly string[];
  readonly status: EndStatus | null;
  readonly source: Source | null;
  readonly promptVersionId: string | null;
  readonly model: string | null;
  readonly apiKeyId: string | null;
  readonly errorCode: RunFailureCode | null;
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
  /** Words that must all stand in the output or the variables, as `websearch_to_tsquery` reads them. */
  readonly words: string | null;
}

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

/** In no language: words are compared as they are written, but for their case. */
function containing(words: string): Condition {
  return sql`to_tsvector('simple', coalesce(e.output, '') || ' ' || coalesce(e.input_variables::text, ''))
    @@ websearch_to_tsquery('simple', ${words})`;
}

function all(conditions: readonly (Condition | false | null | '')[]): Condition {
  const asked = conditions.filter((one): one is Condition => Boolean(one));
  return asked.length === 0 ? sql`true` : sql.join(asked, sql` and `);
}
