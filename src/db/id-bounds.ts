import { sql } from './sql.ts';

/** SQL: `e` was not removed with its month. Records below the floor count as deleted. */
export const aboveFloor = sql`e.id >= (select id_floor(at) from history_floor)`;

/**
 * The lowest and highest of some ids; nulls for an empty list. A prepared statement with a list of ids opens every partition
 * of the history; with these bounds it opens only the months in between.
 */
export function idBounds(ids: readonly string[]): [lowest: string | null, highest: string | null] {
  const [first] = ids;
  if (first === undefined) return [null, null];
  return [
    ids.reduce((a, b) => (a < b ? a : b), first),
    ids.reduce((a, b) => (a > b ? a : b), first),
  ];
}
