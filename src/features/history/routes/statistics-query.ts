import { type CallFailure, invalidRequest } from '../../../core/failure.ts';
import { type Grouping, type LabelGrouping, levelMs } from '../../../core/history/statistics.ts';
import { storedId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { findZone, utc } from '../../../core/time-zone.ts';
import { readClockInZone } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import type { SharedReads } from '../../../engine/read/shared-reads.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { readRange } from '../../../http/request/range.ts';
import { findAgentId } from '../../people/access/visible-resources.ts';
import { fits, type IntervalLength, intervalBounds, intervalSpans } from '../rules/intervals.ts';
import {
  isOfPair,
  type StatisticsFilter,
  type StatisticsRead,
} from '../statements/read-statistics.ts';
import { playgroundOf } from './history-query.ts';

export interface StatisticsQuery {
  readonly level?: IntervalLength;
  readonly groupBy?: string;
  readonly timeZone?: string;
  readonly playground?: 'true' | 'false' | readonly ('true' | 'false')[];
  readonly startDate?: string;
  readonly endDate?: string;
  readonly totals?: boolean;
  readonly model?: string;
  readonly apiKeyId?: string;
  readonly user?: string;
  readonly tag?: string;
}

/** A validated statistics query, and the names that the response repeats. */
export interface StatisticsRequest extends Omit<StatisticsRead, 'of'> {
  readonly level: IntervalLength;
  readonly timeZone: string;
  /** Whether to add the sums over the whole range. */
  readonly totals: boolean;
}

/** Validates a query; throws 400. `allowed` lists the groupings. */
export async function readStatisticsQuery(
  db: Db,
  query: StatisticsQuery,
  allowed: readonly Grouping[],
): Promise<StatisticsRequest> {
  const { level = 'day', groupBy = 'status,source' } = query;
  const { by, label } = readGroupings(groupBy, allowed);
  const timeZone = findZone(query.timeZone ?? utc);
  const nowMs = timeZone === null ? null : await readClockInZone(db, timeZone);
  if (timeZone === null || nowMs === null) throw unknownZone(query.timeZone ?? '');
  const range = readRange(query, timeZone);
  const bounds = intervalBounds(
    { ...range, length: level, zone: timeZone, nowMs },
    limits.statisticsIntervalsMax,
  );
  if (bounds === null) {
    throw invalidRequest(
      `Parameters "startDate" and "endDate" span more than ${limits.statisticsIntervalsMax} intervals of level "${level}".`,
    );
  }
  const only = readFilter(query, label);
  const isFiltered = Object.values(only).some((one) => one !== null);
  const summed =
    !isFiltered &&
    label === null &&
    by.every((one) => one === 'agent' || one === 'status' || one === 'source');
  if (level === 'minute') checkMinutes(bounds[0] ?? 0, nowMs, summed);
  const { table, levels } = chooseTable(level, bounds, summed);
  return {
    level,
    timeZone,
    totals: query.totals ?? false,
    by,
    only,
    playground: playgroundOf(query.playground),
    byLabel: label && { grouping: label, valuesMax: limits.statisticsValuesMax },
    bounds,
    table,
    spans: intervalSpans(bounds, levels),
    rowsMax: rowsMaxOf(only, label),
    groupsMax: limits.statisticsBucketsMax,
  };
}

function readFilter(
  { model, apiKeyId, user, tag }: StatisticsQuery,
  grouping: LabelGrouping | null,
): StatisticsFilter {
  if ((user ?? tag) !== undefined && grouping !== null) {
    throw invalidRequest(
      'Parameters "user" and "tag" cannot be combined with "groupBy" by user, tag or metadata.NAME.',
    );
  }
  return {
    model: model ?? null,
    apiKeyId: apiKeyId === undefined ? null : storedId('key', apiKeyId),
    ...{ user: user ?? null, tag: tag ?? null },
  };
}

function rowsMaxOf(only: StatisticsFilter, grouping: LabelGrouping | null): number {
  if (isOfPair(only)) return limits.statisticsRecordsMax;
  const isByLabel = (only.user ?? only.tag ?? grouping) !== null;
  return isByLabel ? limits.statisticsLabelRowsMax : limits.statisticsRowsMax;
}

/** The stored ids of the named agents, without unknown ones; null without the parameter. */
export async function readAgentIds(
  reads: SharedReads,
  caller: Caller,
  text: string | undefined,
): Promise<readonly string[] | null> {
  if (text === undefined) return null;
  const ids = text.split(',');
  if (ids.length > limits.statisticsAgentsMax) {
    throw invalidRequest(
      `Parameter "agentIds" must name at most ${limits.statisticsAgentsMax} agents.`,
    );
  }
  const found = await Promise.all(ids.map((id) => findAgentId(reads, caller, id)));
  return found.flatMap((id) => id ?? []);
}

/** The rejection of a query whose response would be too large. */
export function tooLarge(
  what: 'too many rows' | 'too many groups',
  { rowsMax, only }: Pick<StatisticsRequest, 'rowsMax' | 'only'>,
): CallFailure {
  if (what === 'too many rows' && only !== undefined && isOfPair(only)) {
    return invalidRequest(
      `The user has more than ${rowsMax} records in the range, and with "tag" they are read one by one. Narrow "startDate" and "endDate", or leave out one of "user" and "tag".`,
    );
  }
  const excess =
    what === 'too many rows'
      ? `adds up more than ${rowsMax} stored rows`
      : `has more than ${limits.statisticsBucketsMax} buckets`;
  return invalidRequest(
    `The response ${excess}. Narrow "startDate" and "endDate", use a longer "level", or group by fewer fields.`,
  );
}

function readGroupings(
  text: string,
  allowed: readonly Grouping[],
): { readonly by: Grouping[]; readonly label: LabelGrouping | null } {
  if (text === '' || text === 'none') return { by: [], label: null };
  const names = text.split(',');
  const by = allowed.filter((one) => names.includes(one));
  const [label = null, ...others] = names.filter(isLabelGrouping);
  const known = by.length + (label === null ? 0 : 1) + others.length;
  if (known === names.length && others.length === 0) return { by, label };
  throw invalidRequest(
    `Parameter "groupBy" must be "none" or a comma-separated list of ${allowed.join(', ')}, each at most once, and at most one of user, tag and metadata.NAME.`,
  );
}

function isLabelGrouping(name: string): name is LabelGrouping {
  return name === 'user' || name === 'tag' || name.startsWith('metadata.');
}

function unknownZone(name: string): CallFailure {
  return invalidRequest(
    `Parameter "timeZone" must be an IANA time zone, such as Europe/Berlin; "${name}" is unknown.`,
  );
}

/** Old minutes are rolled up into hours. The limit is one minute stricter, so that none is rolled up during the read. */
function checkMinutes(firstMs: number, nowMs: number, summed: boolean): void {
  if (!summed) {
    throw invalidRequest(
      'With level "minute", parameter "groupBy" supports only status and source, and there are no filters.',
    );
  }
  const retainedMs = limits.statisticsMinuteDays * levelMs.day;
  if (firstMs < nowMs - retainedMs + levelMs.minute) {
    throw invalidRequest(
      `Level "minute" covers the last ${limits.statisticsMinuteDays} days. Use level "hour" for older data.`,
    );
  }
}

/** The smallest table whose rows align with every interval. */
function chooseTable(level: IntervalLength, bounds: readonly number[], summed: boolean) {
  if (level === 'minute') return { table: 'statistics', levels: ['minute'] } as const;
  if (summed && fits(bounds, 'hour')) {
    return { table: 'statistics', levels: ['day', 'hour'] } as const;
  }
  return { table: 'breakdown', levels: ['day', 'quarter'] } as const;
}
