import { toUnits } from '../../../core/decimal.ts';
import {
  type ExecutionStatus,
  endStatuses,
  type Source,
} from '../../../core/execution/execution.ts';
import {
  type CallFailure,
  type ExecutionErrorCode,
  invalidRequest,
} from '../../../core/failure.ts';
import { everything, type IdRange } from '../../../core/history/history-range.ts';
import type { Sort } from '../../../core/history/sort-order.ts';
import { fromId, type IdKind, toId, uuid7Time, uuidFloor } from '../../../core/id.ts';
import { idBounds } from '../../../db/id-bounds.ts';
import { variableFiltersMax } from '../../../http/contract/contract-limits.ts';
import { readCursor } from '../../../http/request/page-query.ts';
import { readRange } from '../../../http/request/range.ts';
import type { ContentsFilter, HistoryFilter, Label } from '../statements/history-filter.ts';
import type { SortedRecord } from '../statements/sorted-records.ts';

/** Reads the query parameters of history lists and exports. */

export interface HistoryQuery {
  readonly status?: Values<ExecutionStatus>;
  readonly source?: Values<Source>;
  readonly playground?: Values<Mark>;
  readonly startDate?: string;
  readonly endDate?: string;
  readonly agentId?: Values<string>;
  readonly promptVersionId?: Values<string>;
  readonly model?: Values<string>;
  readonly apiKeyId?: Values<string>;
  readonly errorCode?: Values<ExecutionErrorCode>;
  readonly executionId?: Values<string>;
  readonly rerunOf?: string;
  readonly batchId?: string;
  readonly providerRequestId?: string;
  readonly latencyMsMin?: number;
  readonly latencyMsMax?: number;
  readonly costUSDMin?: string;
  readonly costUSDMax?: string;
  readonly q?: string;
  readonly user?: Values<string>;
  readonly session?: string;
  readonly tag?: string;
  readonly include?: string;
  readonly omit?: string;
}

type Mark = 'true' | 'false';

/** One value or a list: the type of a caller. The validated query holds lists. */
type Values<T> = T | readonly T[];

/** @param visible the agents that the caller can see, of which the query may select some */
export function readHistory(
  query: HistoryQuery,
  visible: readonly string[],
): HistoryFilter & { readonly range: IdRange; readonly includeProcessing: boolean } {
  rejectNul(query);
  const [label = null, ...labels] = readLabels(query);
  const contents = readContents(query, labels);
  const { session = null } = query;
  const selected = storedIds('agent', query.agentId);
  return {
    agentIds: selected === null ? visible : visible.filter((id) => selected.includes(id)),
    ...readStatus(query),
    source: values(query.source),
    playground: readPlayground(query),
    promptVersionId: storedIds('version', query.promptVersionId),
    model: values(query.model),
    apiKeyId: storedIds('key', query.apiKeyId),
    errorCode: values(query.errorCode),
    executionId: storedIds('execution', query.executionId),
    rerunOf: storedIds('execution', query.rerunOf)?.[0] ?? null,
    batchId: storedIds('batch', query.batchId)?.[0] ?? null,
    ...{ user: values(query.user), session, label },
    contents,
    range: readIdRange(query),
  };
}

/** Executions that have not ended are listed on request: all that match, or those of the statuses if `processing` is one. */
function readStatus({ status, include }: HistoryQuery) {
  const statuses = values(status);
  const isNamed = statuses?.includes('processing') ?? false;
  if (isNamed && include !== 'processing') {
    throw invalidParameter(
      `"status" must be one of ${endStatuses.join(', ')}. Only lists take processing, with include=processing`,
    );
  }
  const includeProcessing = include === 'processing' && (statuses === null || isNamed);
  return { status: statuses, includeProcessing };
}

/** Executions of a playground are listed on request, or if they are named. */
function readPlayground({ playground, executionId, rerunOf }: HistoryQuery): boolean | null {
  const isNamed = executionId !== undefined || rerunOf !== undefined;
  return playgroundOf(playground ?? (isNamed ? ['true', 'false'] : undefined));
}

/** Null for both. */
export function playgroundOf(marks: Values<Mark> = 'false'): boolean | null {
  const wanted = values(marks) ?? [];
  if (wanted.includes('true') && wanted.includes('false')) return null;
  return wanted.includes('true');
}

/** The ids of these dates and, if only certain executions are requested, between the first and the last of them. */
function readIdRange(query: HistoryQuery): IdRange {
  const { startMs, endMs } = readRange(query);
  const range = {
    fromId: startMs === null ? everything.fromId : uuidFloor(startMs),
    toId: endMs === null ? everything.toId : uuidFloor(endMs + 1),
  };
  const [lowest, highest] = idBounds(storedIds('execution', query.executionId) ?? []);
  if (lowest === null || highest === null) return range;
  const after = uuidFloor(uuid7Time(highest) + 1);
  return {
    fromId: lowest > range.fromId ? lowest : range.fromId,
    toId: after < range.toId ? after : range.toId,
  };
}

function values<T>(given: Values<T> | undefined): readonly T[] | null {
  return given === undefined ? null : ([given].flat() as T[]);
}

/** Where a page starts: after an execution, and after `offset` more matches. */
export interface Start {
  readonly after: string | null;
  readonly offset: number;
}

/** The cursor holds the last execution of the previous page and, after a short page, what is left of its offset. */
export function writeCursor({ id, skip }: { readonly id: string; readonly skip: number }): string {
  const last = toId('execution', id);
  return skip === 0 ? last : `${last}.${skip}`;
}

export function readStart(query: { readonly cursor?: string; readonly offset?: number }): Start {
  const { cursor, offset = 0 } = query;
  if (cursor === undefined) return { after: null, offset };
  const [, last = '', skip = '0'] = /^(\w+)(?:\.([1-9]\d{0,8}))?$/.exec(cursor) ?? [];
  return { after: readCursor('execution', { ...query, cursor: last }), offset: Number(skip) };
}

/** Where a page in the order of a value starts. Later pages have no execution that is newer than the first page. */
export interface SortedStart {
  readonly after: SortedRecord | null;
  readonly offset: number;
  /** Exclusive; null for all. */
  readonly untilMs: number | null;
}

export function writeSortedCursor(
  sort: Sort,
  { id, value }: SortedRecord,
  untilMs: number,
): string {
  return Buffer.from(JSON.stringify([sort, value, id, untilMs])).toString('base64url');
}

export function readSortedStart(query: {
  readonly sort?: Sort;
  readonly cursor?: string;
  readonly offset?: number;
}): SortedStart {
  const { sort, cursor, offset } = query;
  if (cursor === undefined) return { after: null, offset: offset ?? 0, untilMs: null };
  if (offset !== undefined) throw invalidParameter('"offset" cannot be combined with "cursor"');
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, of, value = null, id, untilMs] = sortedCursor.exec(text) ?? [];
  if (id === undefined || of !== sort) {
    throw invalidParameter(
      '"cursor" must be the nextCursor of an earlier page with the same "sort"',
    );
  }
  return { after: { id, value }, offset: 0, untilMs: Number(untilMs) };
}

const sortedCursor =
  /^\["(-?\w+)",(?:null|"(\d{1,12}(?:\.\d{1,10})?)"),"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})",(\d{1,15})\]$/;

/** The tag first: it has the fewest values. */
function readLabels({ tag, ...query }: HistoryQuery): Label[] {
  const metadata = namedBy('metadata.', query).map((one) => ({
    kind: 'metadata' as const,
    ...one,
  }));
  return tag === undefined ? metadata : [{ kind: 'tag', name: '', value: tag }, ...metadata];
}

/** The parameters with this prefix, by the rest of their name. */
function namedBy(prefix: string, query: object): { name: string; value: string }[] {
  return Object.entries(query)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => ({ name: name.slice(prefix.length), value: String(value) }));
}

function readContents(query: HistoryQuery, labels: readonly Label[]): ContentsFilter | null {
  const variables = namedBy('variables.', query);
  if (variables.length > variableFiltersMax) {
    throw invalidParameter(`"variables." may be given at most ${variableFiltersMax} times`);
  }
  rejectReversedRange('latencyMs', query.latencyMsMin, query.latencyMsMax);
  rejectReversedRange('costUSD', units(query.costUSDMin), units(query.costUSDMax));
  const bounds = {
    latencyMsMin: query.latencyMsMin ?? null,
    latencyMsMax: query.latencyMsMax ?? null,
    costUsdMin: query.costUSDMin ?? null,
    costUsdMax: query.costUSDMax ?? null,
    providerRequestId: query.providerRequestId ?? null,
    words: query.q ?? null,
  };
  const isUnbounded = Object.values(bounds).every((one) => one === null);
  if (variables.length + labels.length === 0 && isUnbounded) return null;
  return { ...bounds, variables, labels };
}

/** Rejects an empty range, which no record can match, instead of returning an empty list. */
function rejectReversedRange<T extends number | bigint>(name: string, min?: T, max?: T): void {
  if (min !== undefined && max !== undefined && min > max) {
    throw invalidParameter(`"${name}Min" must not be above "${name}Max"`);
  }
}

/** Exact units: as floats, two amounts that differ in the last digit may be equal. */
function units(decimal: string | undefined): bigint | undefined {
  return decimal === undefined ? undefined : (toUnits(decimal) ?? undefined);
}

/** A malformed id is treated as unknown, so it matches no record. */
function storedIds(kind: IdKind, ids: Values<string> | undefined): string[] | null {
  return values(ids)?.map((id) => fromId(kind, id) ?? uuidFloor(0)) ?? null;
}

/** PostgreSQL does not accept a NUL. */
function rejectNul(query: object): void {
  for (const [name, value] of Object.entries(query)) {
    if ([name, value].flat().some((text) => String(text).includes('\0'))) {
      throw invalidParameter(`"${name.replaceAll('\0', '')}" must not contain a NUL`);
    }
  }
}

function invalidParameter(problem: string): CallFailure {
  return invalidRequest(`Parameter ${problem}.`);
}
