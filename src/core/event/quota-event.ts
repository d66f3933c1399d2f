import { monthStartMs } from '../agent/limits.ts';
import type { MonthCount } from '../execution/decide.ts';
import type { NewEvent } from './event.ts';

/** Events of the monthly quota. */

/** The shares of the quota that are reported, in percent. */
const percents = [80, 90, 100] as const;

export interface QuotaReport {
  readonly workspaceId: string;
  readonly month: number;
  readonly percent: number;
}

/** The shares that are reached and have not been reported in this month. */
export function quotaReports(
  workspaceId: string,
  { actionsPerMonth, month, used }: MonthCount,
  isReported: (percent: number) => boolean,
): QuotaReport[] {
  if (actionsPerMonth === null) return [];
  return percents
    .filter((percent) => used * 100 >= actionsPerMonth * percent && !isReported(percent))
    .map((percent) => ({ workspaceId, month, percent }));
}

export function quotaEvent(
  { workspaceId, month, percent }: QuotaReport,
  { actionsPerMonth, used }: MonthCount,
  atMs: number,
): NewEvent {
  const quota = {
    month: new Date(monthStartMs(month)).toISOString().slice(0, 7),
    ...{ actionsUsed: used, actionsPerMonth },
  };
  const exhausted = percent === 100;
  return {
    ...{ workspaceId, atMs, subject: null, agentId: null, user: null },
    type: exhausted ? 'quota.exhausted' : 'quota.threshold',
    data: JSON.stringify(exhausted ? quota : { ...quota, percent }),
  };
}
