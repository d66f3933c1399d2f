import { CallFailure } from '../core/failure.ts';
import { parseBound } from '../core/time.ts';

/** A range of time in milliseconds, both ends inclusive; null where one is open. */
export interface Range {
  readonly startMs: number | null;
  readonly endMs: number | null;
}

/** The range that `startDate` and `endDate` of a query name. */
export function readRange(query: {
  readonly startDate?: string;
  readonly endDate?: string;
}): Range {
  const startMs = bound('startDate', query.startDate);
  const endMs = bound('endDate', query.endDate);
  if (startMs !== null && endMs !== null && startMs > endMs) {
    throw new CallFailure('INVALID_REQUEST', 'Parameter "startDate" must not be after "endDate".');
  }
  return { startMs, endMs };
}

function bound(name: 'startDate' | 'endDate', text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = parseBound(text, name === 'startDate' ? 'start' : 'end');
  if (ms !== null) return ms;
  throw new CallFailure(
    'INVALID_REQUEST',
    `Parameter "${name}" must be an ISO 8601 date or time, such as 2026-11-21 or 2026-11-21T09:30:00Z.`,
  );
}
