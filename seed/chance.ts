/** What is drawn by lot. */

/** From a log-normal distribution with this median: what latencies and lengths are like. */
export function logNormal(median: number, sigma: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - Math.random()));
  return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * Math.random()));
}

export function within(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, Math.round(value)));
}

/** Draws the place of one of these weights, as often as it weighs; from a table, so that a draw costs one look. */
export function lottery(weights: readonly number[]): () => number {
  const table = new Uint16Array(65_536);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let [at, sum] = [0, weights[0] ?? 0];
  for (let slot = 0; slot < table.length; slot++) {
    while (at < weights.length - 1 && (slot + 0.5) / table.length > sum / total) {
      sum += weights[++at] ?? 0;
    }
    table[slot] = at;
  }
  return () => table[Math.floor(Math.random() * table.length)] ?? 0;
}

/** So many different whole numbers below `end`. */
export function someOf(count: number, end: number): Set<number> {
  const chosen = new Set<number>();
  while (chosen.size < Math.min(count, end)) chosen.add(Math.floor(Math.random() * end));
  return chosen;
}
