/** The days of a range that someone sets, and the times that the API takes. Days are the viewer's. */

/** The day in which a time lies, as a field for days takes it; empty where it is no time. */
export function dayOf(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.valueOf())) return '';
  const two = (part: number) => String(part).padStart(2, '0');
  const year = String(at.getFullYear()).padStart(4, '0');
  return `${year}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/**
 * The time that a day stands for, null where it is none. A time that was there and lies in that day stays to the
 * millisecond: who sets another filter does not mean to move it, nor does a viewer elsewhere, whose days are others.
 */
export function timeOf(day: string, edge: 'start' | 'end', before: string): string | null {
  if (day === dayOf(before)) return before;
  if (day === '') return '';
  const at = new Date(`${day}T${edge === 'start' ? '00:00:00' : '23:59:59.999'}`);
  return Number.isNaN(at.valueOf()) ? null : at.toISOString();
}
