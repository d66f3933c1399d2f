/** The repetitions that a schedule's form offers, each as a cron expression of five fields. */

export type RepeatKind =
  | 'minutes'
  | 'hourly'
  | 'daily'
  | 'weekdays'
  | 'weekly'
  | 'monthly'
  | 'cron';

/** Fields that the kind does not use keep their values, so that switching to and fro loses nothing. */
export interface Repeat {
  readonly kind: RepeatKind;
  /** One of `minuteIntervals`. */
  readonly everyMinutes: number;
  readonly minute: number;
  readonly hour: number;
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  /** 1 to 31, or `lastDay`. */
  readonly monthDay: string;
  /** Any expression; used by the kind `cron`. */
  readonly cron: string;
}

/** Intervals that divide an hour. Any other starts again at each full hour, so it would not be even. */
export const minuteIntervals = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30] as const;
export const lastDay = 'L';
/** Monday first. */
export const weekOrder = [1, 2, 3, 4, 5, 6, 0] as const;

const defaults = {
  ...{ everyMinutes: 15, minute: 0, hour: 2, weekdays: [1], monthDay: '1' },
} satisfies Partial<Repeat>;

/** An expression that is none of the choices is kept as written. */
export function readRepeat(cron: string): Repeat {
  const written = nicknames[cron.trim().toLowerCase()] ?? cron.trim();
  const [minute = '', hour = '', monthDay = '', month, weekday = '', ...others] =
    written.split(/\s+/);
  const rest = { ...defaults, cron };
  const other: Repeat = { ...rest, kind: 'cron' };
  if (month !== '*' || others.length > 0) return other;
  if (hour === '*' && monthDay === '*' && weekday === '*') {
    const every = minute === '*' ? 1 : Number(/^\*\/(\d+)$/.exec(minute)?.[1]);
    const interval = minuteIntervals.find((one) => one === every);
    if (interval !== undefined) return { ...rest, kind: 'minutes', everyMinutes: interval };
    return isNumber(minute, 59) ? { ...rest, kind: 'hourly', minute: Number(minute) } : other;
  }
  if (!isNumber(minute, 59) || !isNumber(hour, 23)) return other;
  const timed = { ...rest, minute: Number(minute), hour: Number(hour) };
  if (weekday === '*') {
    if (monthDay === '*') return { ...timed, kind: 'daily' };
    const day = monthDay.toUpperCase();
    if (day === lastDay) return { ...timed, kind: 'monthly', monthDay: day };
    if (!isNumber(day, 31) || Number(day) === 0) return other;
    return { ...timed, kind: 'monthly', monthDay: String(Number(day)) };
  }
  if (monthDay !== '*') return other;
  if (/^(1-5|mon-fri)$/i.test(weekday)) return { ...timed, kind: 'weekdays' };
  const weekdays = weekday.split(',').map(readWeekday);
  if (weekdays.some((one) => one === null)) return other;
  const days = weekOrder.filter((one) => weekdays.includes(one));
  return { ...timed, kind: 'weekly', weekdays: days };
}

export function writeRepeat(repeat: Repeat): string {
  const { kind, everyMinutes, minute, hour, weekdays, monthDay, cron } = repeat;
  switch (kind) {
    case 'minutes':
      return everyMinutes === 1 ? '* * * * *' : `*/${everyMinutes} * * * *`;
    case 'hourly':
      return `${minute} * * * *`;
    case 'daily':
      return `${minute} ${hour} * * *`;
    case 'weekdays':
      return `${minute} ${hour} * * 1-5`;
    case 'weekly':
      return `${minute} ${hour} * * ${weekOrder.filter((one) => weekdays.includes(one)).join()}`;
    case 'monthly':
      return `${minute} ${hour} ${monthDay} * *`;
    case 'cron':
      return cron;
  }
}

/** The repetition in words; an expression that is none of the choices as it is. */
export function describeRepeat(repeat: Repeat): string {
  const { kind, everyMinutes, minute, weekdays, monthDay, cron } = repeat;
  const time = timeOfDay(repeat);
  switch (kind) {
    case 'minutes':
      return everyMinutes === 1 ? 'Every minute' : `Every ${everyMinutes} minutes`;
    case 'hourly':
      return minute === 0 ? 'Hourly, on the hour' : `Hourly, at minute ${minute}`;
    case 'daily':
      return `Daily at ${time}`;
    case 'weekdays':
      return `On weekdays at ${time}`;
    case 'weekly':
      return `Weekly on ${listOf.format(weekdays.map(weekdayName))} at ${time}`;
    case 'monthly':
      return `Monthly on ${monthDay === lastDay ? 'the last day' : `day ${monthDay}`} at ${time}`;
    case 'cron':
      return cron;
  }
}

export const weekdayName = (day: number) => formatWeekday(day, 'long');
export const shortWeekdayName = (day: number) => formatWeekday(day, 'short');

const listOf = new Intl.ListFormat(undefined, { type: 'conjunction' });

function formatWeekday(day: number, weekday: 'long' | 'short'): string {
  // 1 January 2023 was a Sunday.
  const date = new Date(Date.UTC(2023, 0, 1 + day));
  return new Intl.DateTimeFormat(undefined, { weekday, timeZone: 'UTC' }).format(date);
}

function timeOfDay({ hour, minute }: Repeat): string {
  const at = new Date(Date.UTC(2023, 0, 1, hour, minute));
  return new Intl.DateTimeFormat(undefined, { timeStyle: 'short', timeZone: 'UTC' }).format(at);
}

const nicknames: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
};

const isNumber = (text: string, max: number) => /^\d{1,2}$/.test(text) && Number(text) <= max;

const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function readWeekday(text: string): number | null {
  if (/^[0-7]$/.test(text)) return Number(text) % 7;
  const named = weekdayNames.indexOf(text.toLowerCase());
  return named < 0 ? null : named;
}
