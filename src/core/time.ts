import { calendarDayStartMs, utc } from './time-zone.ts';

/**
 * Dates as callers write them: ISO 8601, a day or a moment, UTC unless a zone is given. An unencoded plus sign of a
 * zone in a query arrives as a blank.
 */

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+ -]\d{2}:?\d{2})?)?$/i;

/**
 * The millisecond of a bound; null if the text is not a date. Both bounds are inclusive: a day alone means its first
 * millisecond as a start and its last as an end, in the zone; finer fractions are rounded inwards.
 */
export function parseBound(text: string, side: 'start' | 'end', zone: string = utc): number | null {
  const match = pattern.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const dayStart = utcDay(year ?? 0, month ?? 0, day ?? 0);
  if (dayStart === null) return null;
  if (match[4] === undefined) {
    return side === 'start'
      ? calendarDayStartMs(dayStart, zone)
      : calendarDayStartMs(dayStart, zone, 1) - 1;
  }
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59) return null;
  const fraction = (match[7] ?? '').padEnd(9, '0');
  const finer = Number(fraction.slice(3)) > 0 && side === 'start' ? 1 : 0;
  const offset = offsetMs(match[8] ?? 'Z');
  if (offset === null) return null;
  const clock = (((hour ?? 0) * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * 1000;
  return dayStart + clock + Number(fraction.slice(0, 3)) + finer - offset;
}

/** A moment that is not a bound of a range, such as an expiry; null if the text is not a date. */
export function parseMoment(text: string): number | null {
  return parseBound(text, 'start');
}

function utcDay(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const same =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same ? date.getTime() : null;
}

function offsetMs(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
