import { Temporal } from 'temporal-polyfill';

/** Time zones by IANA name: starts of local days and hours. Moments are milliseconds. */

export const utc = 'UTC';

/** The IANA spelling of a name; null if there is no such zone. An offset is not a zone. */
export function findZone(name: string): string | null {
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId;
  } catch {
    return null;
  }
}

/** The start of the day of a moment, or of a later day. Not every day begins at midnight. */
export function dayStartMs(ms: number, zone: string, daysLater = 0): number {
  if (zone === utc) return (Math.floor(ms / dayMs) + daysLater) * dayMs;
  const day = at(ms, zone).toPlainDate().add({ days: daysLater });
  return day.toZonedDateTime(zone).epochMilliseconds;
}

/**
 * The start of the quarter of the day of a moment (0:00, 6:00, 12:00 or 18:00 on the clock), or of a later one. With a clock
 * change it has five or seven hours.
 */
export function quarterDayStartMs(ms: number, zone: string, later = 0): number {
  const here = at(ms, zone);
  const quarter = Math.floor(here.hour / 6) + later;
  const day = here.toPlainDate().add({ days: Math.floor(quarter / 4) });
  if (quarter % 4 === 0) return day.toZonedDateTime(zone).epochMilliseconds;
  const plainTime = new Temporal.PlainTime((quarter % 4) * 6);
  return day.toZonedDateTime({ timeZone: zone, plainTime }).epochMilliseconds;
}

/** The day of the week of a moment, from 1 for Monday. */
export function weekday(ms: number, zone: string): number {
  return at(ms, zone).dayOfWeek;
}

/** The start of a calendar day in a zone, given its start in UTC. */
export function calendarDayStartMs(utcStartMs: number, zone: string, daysLater = 0): number {
  if (zone === utc) return utcStartMs + daysLater * dayMs;
  const day = at(utcStartMs, utc).toPlainDate().add({ days: daysLater });
  return day.toZonedDateTime(zone).epochMilliseconds;
}

/** The start of the local hour of a moment. A clock change by half an hour ends an hour and begins a new one. */
export function hourStartMs(ms: number, zone: string): number {
  if (zone === utc) return Math.floor(ms / hourMs) * hourMs;
  const here = at(ms, zone);
  const offset = offsetMs(here);
  const start = Math.floor((ms + offset) / hourMs) * hourMs - offset;
  if (offsetMs(at(start, zone)) === offset) return start;
  const putAt = here.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
  return Math.max(start, putAt?.epochMilliseconds ?? start);
}

const hourMs = 3_600_000;
const dayMs = 86_400_000;

function at(ms: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
}

function offsetMs(time: Temporal.ZonedDateTime): number {
  return time.offsetNanoseconds / 1_000_000;
}
