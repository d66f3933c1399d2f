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

/** A day and perhaps a time of day, as their inputs take them. Without a time, an edge is that of the whole day. */
export interface TimeInputs {
  readonly day: string;
  readonly time: string;
}

type Edge = 'start' | 'end';

/** The times of the first and the last minute of a day are left out: the day says it. */
export function toTimeInputs(time: string, edge: Edge): TimeInputs {
  const day = toDateInput(time);
  if (day === '') return { day, time: '' };
  const at = new Date(time);
  const two = (part: number) => String(part).padStart(2, '0');
  const ofDay = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return { day, time: ofDay === wholeDay[edge] ? '' : ofDay };
}

/** The beginning or the end of a minute or of a day; null if the day is invalid, `before` if it is that already. */
export function fromTimeInputs(
  { day, time }: TimeInputs,
  edge: Edge,
  before: string,
): string | null {
  const shown = toTimeInputs(before, edge);
  if (day === shown.day && time === shown.time) return before;
  if (time === '' || time === wholeDay[edge]) return fromDateInput(day, edge, '');
  if (day === '') return '';
  const at = new Date(`${day}T${time}${edge === 'start' ? ':00' : ':59.999'}`);
  return Number.isNaN(at.valueOf()) ? null : at.toISOString();
}

const wholeDay: Record<Edge, string> = { start: '00:00', end: '23:59' };
