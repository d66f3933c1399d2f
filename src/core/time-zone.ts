/** Time zones, by their IANA names: where the days and hours of a place begin. Moments are milliseconds. */

export const utc = 'UTC';

/** The name as the IANA list writes it; null where there is no such zone. An offset is none: it knows no place. */
export function findZone(name: string): string | null {
  if (!/^[A-Za-z]/.test(name)) return null;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId;
  } catch {
    return null;
  }
}

/** When the day begins that a moment lies in, or one so many days later. Not every day begins at midnight. */
export function dayStartMs(ms: number, zone: string, daysLater = 0): number {
  if (zone === utc) return (Math.floor(ms / dayMs) + daysLater) * dayMs;
  const day = at(ms, zone).toPlainDate().add({ days: daysLater });
  return day.toZonedDateTime(zone).epochMilliseconds;
}

/** When the day of a calendar begins whose beginning in UTC is given. */
export function calendarDayStartMs(utcStartMs: number, zone: string, daysLater = 0): number {
  if (zone === utc) return utcStartMs + daysLater * dayMs;
  const day = at(utcStartMs, utc).toPlainDate().add({ days: daysLater });
  return day.toZonedDateTime(zone).epochMilliseconds;
}

/**
 * When the hour of the zone's clocks begins that a moment lies in. Where they are put by half an hour, an hour ends
 * there and a new one begins.
 */
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
