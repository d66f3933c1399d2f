import type { EventType, NewEvent } from '../event/event.ts';
import { toId } from '../id.ts';
import type { Budget } from './budget.ts';
import { type BudgetWindow, figuresOf, unitsOf, usdOf } from './reserve.ts';

/** Events of budgets: each threshold and the first refusal once for a window, and each overrun. */

/** A call that its provider charged more for than its bound. */
export interface Overrun {
  readonly executionId: string;
  /** Units of `decimal.ts`. */
  readonly beyond: bigint;
}

/** How `announced` names the first refusal. */
const firstRefusal = 0;
const eventsPerHourMax = 1_000;
const hourMs = 3_600_000;

/** The events that are due of a window. Notes them there and with its budget. */
export function announce(
  window: BudgetWindow,
  { isRefused, overruns }: { readonly isRefused: boolean; readonly overruns: readonly Overrun[] },
  nowMs: number,
): NewEvent[] {
  const { budget, settled, announced } = window;
  if (budget.ofRun) return [];
  const limit = unitsOf(budget.limitUsd);
  const reached = budget.thresholds.filter(
    (percent) => !announced.includes(percent) && settled * 100n >= limit * BigInt(percent),
  );
  const isExhausted = isRefused && !announced.includes(firstRefusal);
  if (reached.length > 0 || isExhausted) {
    window.announced = [...announced, ...reached, ...(isExhausted ? [firstRefusal] : [])];
  }
  const event = (type: EventType, more: object = {}) => eventOf(window, nowMs, type, more);
  const due = [
    ...overruns.map(({ executionId, beyond }) =>
      event('budget.overrun', {
        executionId: toId('execution', executionId),
        overrunUSD: Number(usdOf(beyond)),
      }),
    ),
    ...reached.map((percent) => event('budget.threshold', { percent })),
    ...(isExhausted ? [event('budget.exhausted')] : []),
  ];
  return due.length === 0 ? [] : withinHour(budget, due, nowMs);
}

function eventOf(window: BudgetWindow, atMs: number, type: EventType, more: object): NewEvent {
  const { budget, bucket, window: windowStart, endMs } = window;
  const { limitUSD, settledUSD } = figuresOf(window);
  const { id, workspaceId, name, per } = budget;
  const data = {
    ...{ budgetId: toId('budget', id), name, bucket: shownBucket(budget, bucket), windowStart },
    resetAt: endMs === null ? null : new Date(endMs).toISOString(),
    ...{ limitUSD, settledUSD, ...more },
  };
  const user = per === 'user' && bucket !== '' ? bucket : null;
  return {
    ...{ workspaceId, type, atMs, subject: id, agentId: null, user },
    data: JSON.stringify(data),
  };
}

/** A bucket as the API names it. */
export function shownBucket({ per }: Pick<Budget, 'per'>, bucket: string): string {
  const isId = bucket.length === uuidChars && (per === 'agent' || per === 'key');
  return isId ? toId(per, bucket) : bucket;
}

const uuidChars = 36;

/** The last event that an earlier hour withheld, which says how many those were. */
export function withheldEvents({ events }: Budget, nowMs: number): NewEvent[] {
  const hour = Math.floor(nowMs / hourMs);
  if (hour <= events.hour) return [];
  const { lastWithheld, withheld } = events;
  Object.assign(events, { hour, written: 0, withheld: 0, lastWithheld: null });
  if (lastWithheld === null) return [];
  const data = { ...JSON.parse(lastWithheld.data), withheld };
  return [{ ...lastWithheld, data: JSON.stringify(data) }];
}

function withinHour(budget: Budget, due: readonly NewEvent[], nowMs: number): NewEvent[] {
  const { events } = budget;
  const earlier = withheldEvents(budget, nowMs);
  const written = due.slice(0, Math.max(0, eventsPerHourMax - events.written));
  events.written += written.length;
  events.withheld += due.length - written.length;
  if (written.length < due.length) events.lastWithheld = due.at(-1) ?? null;
  return [...earlier, ...written];
}
