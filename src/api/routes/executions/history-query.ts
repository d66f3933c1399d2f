import { variableFiltersMax } from '../../../contract/limits.ts';
import { toUnits } from '../../../core/decimal.ts';
import type { EndStatus, Source } from '../../../core/execution/execution.ts';
import {
  type CallFailure,
  type ExecutionErrorCode,
  invalidRequest,
} from '../../../core/failure.ts';
import { everything, type IdRange } from '../../../core/history/history-range.ts';
import { fromId, type IdKind, toId, uuidFloor } from '../../../core/id.ts';
import type {
  ContentsFilter,
  HistoryFilter,
  Label,
} from '../../../store/history/history-filter.ts';
import { readCursor } from '../../http/page.ts';
import { readRange } from '../../http/range.ts';

/** Reads the query parameters of history lists and exports. */

export interface HistoryQuery {
  readonly status?: EndStatus;
  readonly source?: Source;
  readonly startDate?: string;
  readonly endDate?: string;
  readonly promptVersionId?: string;
  readonly model?: string;
  readonly apiKeyId?: string;
  readonly errorCode?: ExecutionErrorCode;
  readonly latencyMsMin?: number;
  readonly latencyMsMax?: number;
  readonly costUSDMin?: string;
  readonly costUSDMax?: string;
  readonly q?: string;
  readonly user?: string;
  readonly session?: string;
  readonly tag?: string;
  readonly include?: string;
  readonly omit?: string;
}

export function readHistory(
  query: HistoryQuery,
  agentIds: readonly string[],
): HistoryFilter & { readonly range: IdRange } {
  rejectNul(query);
  const [label = null, ...labels] = readLabels(query);
  const contents = readContents(query, labels);
  const { startMs, endMs } = readRange(query);
  const { status = null, source = null, model = null, errorCode = null } = query;
  const { user = null, session = null } = query;
  return {
    agentIds,
    status,
    source,
    promptVersionId: storedId('version', query.promptVersionId),
    model,
    apiKeyId: storedId('key', query.apiKeyId),
    errorCode,
    ...{ user, session, label },
    contents,
    range: {
      fromId: startMs === null ? everything.fromId : uuidFloor(startMs),
      toId: endMs === null ? everything.toId : uuidFloor(endMs + 1),
    },
  };
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
function storedId(kind: IdKind, id: string | undefined): string | null {
  return id === undefined ? null : (fromId(kind, id) ?? uuidFloor(0));
}

/** PostgreSQL does not accept a NUL. */
function rejectNul(query: object): void {
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === 'string' && (name + value).includes('\0')) {
      throw invalidParameter(`"${name.replaceAll('\0', '')}" must not contain a NUL`);
    }
  }
}

function invalidParameter(problem: string): CallFailure {
  return invalidRequest(`Parameter ${problem}.`);
}
