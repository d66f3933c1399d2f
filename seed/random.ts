/** Random values. */

/** A log-normal value with this median, as is typical of lengths. */
export function logNormal(median: number, sigma: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - Math.random()));
  return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * Math.random()));
}

export function within(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, Math.round(value)));
}

/** Distinct whole numbers below `end`. */
export function someOf(count: number, end: number): Set<number> {
  const chosen = new Set<number>();
  while (chosen.size < Math.min(count, end)) chosen.add(Math.floor(Math.random() * end));
  return chosen;
}
