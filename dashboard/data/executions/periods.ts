/** Time ranges of a list that move with the clock. Days are those of the viewer. */
export const periods = [
  { value: '15m', label: 'Last 15 minutes' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: 'today', label: 'Today' },
  { value: 'yesterday', label: 'Yesterday' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
] as const;
export type Period = (typeof periods)[number]['value'];

export const isPeriod = (value: unknown): value is Period =>
  periods.some((one) => one.value === value);

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

const lengthMs = {
  '15m': 15 * minuteMs,
  '1h': hourMs,
  '24h': dayMs,
  '7d': 7 * dayMs,
  '30d': 30 * dayMs,
} as const;

export interface TimeRange {
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

/** The bounds of a period at a time; without an end it lasts until now. */
export function periodRange(period: Period, nowMs: number): TimeRange {
  if (period !== 'today' && period !== 'yesterday') {
    return { startDate: new Date(nowMs - lengthMs[period]).toISOString() };
  }
  const today = startOfDay(nowMs, 0);
  if (period === 'today') return { startDate: today.toISOString() };
  const lastMs = today.getTime() - 1;
  return {
    startDate: startOfDay(nowMs, -1).toISOString(),
    endDate: new Date(lastMs).toISOString(),
  };
}

/** Days can have 23 or 25 hours, so the calendar decides. */
function startOfDay(nowMs: number, days: number): Date {
  const now = new Date(nowMs);
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}
