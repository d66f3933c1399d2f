/** Converts between the API's timestamps and the days of date inputs, in the viewer's time zone. */

/** The day of a timestamp as a date input takes it; empty if the timestamp is invalid. */
export function toDateInput(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.valueOf())) return '';
  const two = (part: number) => String(part).padStart(2, '0');
  const year = String(at.getFullYear()).padStart(4, '0');
  return `${year}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/**
 * The start or end of a day; null if the day is invalid. If `before` lies in the same day it is returned unchanged:
 * applying another filter must not move the range, and viewers in other time zones have other days.
 */
export function fromDateInput(day: string, edge: 'start' | 'end', before: string): string | null {
  if (day === toDateInput(before)) return before;
  if (day === '') return '';
  const at = new Date(`${day}T${edge === 'start' ? '00:00:00' : '23:59:59.999'}`);
  return Number.isNaN(at.valueOf()) ? null : at.toISOString();
}
