import * as limits from '../../../contract/limits.ts';
import { CallFailure } from '../../../core/failure.ts';
import { type Grouping, levelMs } from '../../../core/history/statistics.ts';
import { fits, type StepLength, stepBounds, stepSpans } from '../../../core/history/steps.ts';
import { fromId } from '../../../core/id.ts';
import { findZone, utc } from '../../../core/time-zone.ts';
import { readClockInZone } from '../../../store/connection/clock.ts';
import type { Db } from '../../../store/connection/database.ts';
import type { StatisticsRead } from '../../../store/history/read-statistics.ts';
import { readRange } from '../../http/range.ts';

export interface StatisticsQuery {
  readonly level?: StepLength;
  readonly groupBy?: string;
  readonly timeZone?: string;
  readonly startDate?: string;
  readonly endDate?: string;
}

/** What a query asks of the statistics, whoever's they are, and how it is named in the answer. */
export interface StatisticsRequest extends Omit<StatisticsRead, 'of'> {
  readonly level: StepLength;
  readonly timeZone: string;
}

/** Reads a query, and refuses with 400 what it cannot ask. `allowed` is what may be grouped by. */
export async function readQuestion(
  db: Db,
  query: StatisticsQuery,
  allowed: readonly Grouping[],
): Promise<StatisticsRequest> {
  const { level = 'day', groupBy = 'status,source' } = query;
  const by = readGroupings(groupBy, allowed);
  const timeZone = findZone(query.timeZone ?? utc);
  const nowMs = timeZone === null ? null : await readClockInZone(db, timeZone);
  if (timeZone === null || nowMs === null) throw unknownZone(query.timeZone ?? '');
  const range = readRange(query, timeZone);
  const bounds = stepBounds(
    { ...range, length: level, zone: timeZone, nowMs },
    limits.statisticsStepsMax,
  );
  if (bounds === null) {
    throw refused(
      `Parameters "startDate" and "endDate" span more than ${limits.statisticsStepsMax} steps of level "${level}".`,
    );
  }
  const summed = by.every((one) => one === 'agent' || one === 'status' || one === 'source');
  if (level === 'minute') checkMinutes(bounds[0] ?? 0, nowMs, summed);
  const { table, levels } = sourceOf(level, bounds, summed);
  return {
    level,
    timeZone,
    by,
    bounds,
    table,
    spans: stepSpans(bounds, levels),
    rowsMax: limits.statisticsRowsMax,
    groupsMax: limits.statisticsBucketsMax,
  };
}

/** The stored ids of the agents that are named; what is malformed is simply unknown. Null where none are. */
export function readAgentIds(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  const ids = text.split(',');
  if (ids.length > limits.statisticsAgentsMax) {
    throw refused(`Parameter "agentIds" must name at most ${limits.statisticsAgentsMax} agents.`);
  }
  return ids.flatMap((id) => fromId('agent', id) ?? []);
}

/** The refusal of an answer that would be too large. */
export function tooMuch(what: 'too many rows' | 'too many groups'): CallFailure {
  const over =
    what === 'too many rows'
      ? `takes more than ${limits.statisticsRowsMax} stored rows to add up`
      : `has more than ${limits.statisticsBucketsMax} buckets`;
  return refused(
    `The answer ${over}: narrow "startDate" and "endDate", or take a longer "level" or fewer in "groupBy".`,
  );
}

function readGroupings(text: string, allowed: readonly Grouping[]): Grouping[] {
  if (text === '' || text === 'none') return [];
  const names = text.split(',');
  const by = allowed.filter((one) => names.includes(one));
  // Each once: what is named twice is a mistake of whoever asks.
  if (by.length === names.length) return by;
  throw refused(
    `Parameter "groupBy" must be some of ${allowed.join(', ')}, each once and with commas between, or none.`,
  );
}

function unknownZone(name: string): CallFailure {
  return refused(
    `Parameter "timeZone" must be the IANA name of a time zone, such as Europe/Berlin; "${name}" is none.`,
  );
}

/** Minutes are folded into their hours after a while; one more is asked for, so that none goes while it is read. */
function checkMinutes(firstMs: number, nowMs: number, summed: boolean): void {
  if (!summed) {
    throw refused('Parameter "groupBy" takes only status and source with level "minute".');
  }
  const keptMs = limits.statisticsMinuteDays * levelMs.day;
  if (firstMs < nowMs - keptMs + levelMs.minute) {
    throw refused(
      `Level "minute" reaches ${limits.statisticsMinuteDays} days back; take level "hour" for what was before.`,
    );
  }
}

/** The table with the fewest rows that still holds every bound of a step. */
function sourceOf(level: StepLength, bounds: readonly number[], summed: boolean) {
  if (level === 'minute') return { table: 'statistics', levels: ['minute'] } as const;
  if (summed && fits(bounds, 'hour')) {
    return { table: 'statistics', levels: ['day', 'hour'] } as const;
  }
  return { table: 'breakdown', levels: ['day', 'quarter'] } as const;
}

function refused(message: string): CallFailure {
  return new CallFailure('INVALID_REQUEST', message);
}
