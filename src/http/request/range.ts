import { invalidRequest } from '../../core/failure.ts';
import { parseBound } from '../../core/time.ts';

/** A time range in milliseconds, both ends inclusive; null for an open end. */
export interface Range {
  readonly startMs: number | null;
  readonly endMs: number | null;
}

/** The range from `startDate` to `endDate` of a query. Dates without a time are days in the zone (default: UTC). */
export function readRange(
  query: { readonly startDate?: string; readonly endDate?: string },
  zone?: string,
  what: 'Parameter' | 'Field' = 'Parameter',
): Range {
  const startMs = parseDate(`${what} "startDate"`, query.startDate, 'start', zone);
  const endMs = parseDate(`${what} "endDate"`, query.endDate, 'end', zone);
  if (startMs !== null && endMs !== null && startMs > endMs) {
    throw invalidRequest(`${what} "startDate" must not be after "endDate".`);
  }
  return { startMs, endMs };
}

function parseDate(
  named: string,
  text: string | undefined,
  side: 'start' | 'end',
  zone?: string,
): number | null {
  if (text === undefined) return null;
  const ms = parseBound(text, side, zone);
  if (ms !== null) return ms;
  throw invalidRequest(
    `${named} must be an ISO 8601 date or time, such as 2026-11-21 or 2026-11-21T09:30:00Z.`,
  );
}
