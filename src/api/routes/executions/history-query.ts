import { variableFiltersMax } from '../../../contract/limits.ts';
import { toUnits } from '../../../core/decimal.ts';
import type { EndStatus, Source } from '../../../core/execution/execution.ts';
import { CallFailure, type ExecutionErrorCode } from '../../../core/failure.ts';
import { everything, type IdRange } from '../../../core/history/history-range.ts';
import { fromId, type IdKind, uuidFloor } from '../../../core/id.ts';
import type { ContentsFilter, HistoryFilter } from '../../../store/history/history-filter.ts';
import { readRange } from '../../http/range.ts';

/** What the query of a history asks for. */

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
  readonly include?: string;
  readonly omit?: string;
}

export function readHistory(
  query: HistoryQuery,
  agentIds: readonly string[],
): HistoryFilter & { readonly range: IdRange } {
  refuseNul(query);
  const contents = readContents(query);
  if (contents && query.include) {
    throw refused(
      '"include" cannot stand beside latency, cost, "variables." or "q": what has not ended has none',
    );
  }
  const { startMs, endMs } = readRange(query);
  const { status = null, source = null, model = null, errorCode = null } = query;
  return {
    agentIds,
    status,
    source,
    promptVersionId: stored('version', query.promptVersionId),
    model,
    apiKeyId: stored('key', query.apiKeyId),
    errorCode,
    contents,
    range: {
      fromId: startMs === null ? everything.fromId : uuidFloor(startMs),
      toId: endMs === null ? everything.toId : uuidFloor(endMs + 1),
    },
  };
}

/** A cursor is the last execution of the page before; both ways to page at once would contradict each other. */
export function readCursor(query: { cursor?: string; offset?: number }): string | null {
  if (query.cursor === undefined) return null;
  const after = fromId('execution', query.cursor);
  if (after === null) throw refused('"cursor" must be a nextCursor');
  if (query.offset !== undefined) throw refused('"offset" cannot stand beside "cursor"');
  return after;
}

function readContents(query: HistoryQuery): ContentsFilter | null {
  const prefix = 'variables.';
  const variables = Object.entries(query)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => ({ name: name.slice(prefix.length), value: String(value) }));
  if (variables.length > variableFiltersMax) {
    throw refused(`"variables." may stand there at most ${variableFiltersMax} times`);
  }
  refuseReversed('latencyMs', query.latencyMsMin, query.latencyMsMax);
  refuseReversed('costUSD', units(query.costUSDMin), units(query.costUSDMax));
  const bounds = {
    latencyMsMin: query.latencyMsMin ?? null,
    latencyMsMax: query.latencyMsMax ?? null,
    costUsdMin: query.costUSDMin ?? null,
    costUsdMax: query.costUSDMax ?? null,
    words: query.q ?? null,
  };
  if (variables.length === 0 && Object.values(bounds).every((one) => one === null)) return null;
  return { ...bounds, variables };
}

/** No record could match: as with dates, whoever asks is told so instead of shown an empty list. */
function refuseReversed<T extends number | bigint>(name: string, min?: T, max?: T): void {
  if (min !== undefined && max !== undefined && min > max) {
    throw refused(`"${name}Min" must not be above "${name}Max"`);
  }
}

/** As exact as the amounts themselves: floats take two that differ in the last place for one. */
function units(decimal: string | undefined): bigint | undefined {
  return decimal === undefined ? undefined : (toUnits(decimal) ?? undefined);
}

/** What is malformed is simply unknown: no record has it. */
function stored(kind: IdKind, id: string | undefined): string | null {
  return id === undefined ? null : (fromId(kind, id) ?? uuidFloor(0));
}

/** Nothing stored can hold one, and PostgreSQL takes none. */
function refuseNul(query: object): void {
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === 'string' && (name + value).includes('\0')) {
      throw refused(`"${name.replaceAll('\0', '')}" must not hold a NUL`);
    }
  }
}

function refused(what: string): CallFailure {
  return new CallFailure('INVALID_REQUEST', `Parameter ${what}.`);
}
