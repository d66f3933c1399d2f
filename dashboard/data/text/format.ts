/** Formats numbers and times in the browser's locale; costs are in US dollars. */

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

export const formatCount = (count: number) => (count < 10_000 ? whole : short).format(count);
/** Exact, for a single execution. */
export const formatExactCount = (count: number) => whole.format(count);
export const formatPercent = (share: number) => percent.format(share);

/** Rounds to cents; amounts below ten cents keep two significant digits. */
export function formatCost(usd: number): string {
  const digits = usd === 0 ? 2 : Math.max(2, 1 - Math.floor(Math.log10(usd)));
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    maximumFractionDigits: digits,
  }).format(usd);
}

/** If some costs are unknown, the sum is a lower bound: never show it as zero or as the total. */
export function formatCostSum({ costUSD, costUnknown }: Costs): string {
  if (costUnknown === 0) return formatCost(costUSD);
  return costUSD === 0 ? 'unknown' : `≥ ${formatCost(costUSD)}`;
}

interface Costs {
  readonly costUSD: number;
  /** Executions whose cost is missing from the sum, at least in part. */
  readonly costUnknown: number;
}

/** Chooses the unit after rounding: 59.96 s is shown as 1 min. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(ms < 9_995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** In the viewer's time zone. */
export const formatTime = (iso: string) => dateTime.format(new Date(iso));

/** Relative within 30 days, with the unit chosen after rounding; older times show the date. */
export function formatRelativeTime(iso: string, nowMs = Date.now()): string {
  const seconds = (Date.parse(iso) - nowMs) / 1_000;
  for (const [unit, length, until] of relativeUnits) {
    const count = Math.round(seconds / length);
    if (Math.abs(count) < until) return relativeFormat.format(count, unit);
  }
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(new Date(iso));
}

const relativeUnits: readonly (readonly [Intl.RelativeTimeFormatUnit, number, number])[] = [
  ['second', 1, 60],
  ['minute', 60, 60],
  ['hour', 3_600, 24],
  ['day', 86_400, 30],
];

export const viewerZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** To the minute, in the given time zone. */
export function formatTimeIn(iso: string, timeZone: string): string {
  const format = { dateStyle: 'medium', timeStyle: 'short', timeZone } as const;
  return new Intl.DateTimeFormat(undefined, format).format(new Date(iso));
}

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  ...{ day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' },
});

/** To the minute, with the year only if it is another one. */
export function formatShortTime(iso: string): string {
  const at = new Date(iso);
  return at.getFullYear() === new Date().getFullYear() ? dayAndTime.format(at) : formatTime(iso);
}

/** From one moment to another, inclusive; whole days without the time. */
export function formatSpan(startMs: number, endMs: number): string {
  const [start, end] = [new Date(startMs), new Date(endMs)];
  const isWhole = isMidnight(start) && isMidnight(new Date(endMs + 1));
  return (isWhole ? day : dayAndTime).formatRange(start, end);
}

function isMidnight(at: Date): boolean {
  return at.getHours() + at.getMinutes() + at.getSeconds() === 0;
}
