/**
 * The lowest and the highest of some ids; of none, nulls. A statement whose plan is kept opens every month of the history
 * for a list of ids; told the bounds of all, it opens only the months between.
 */
export function idBounds(ids: readonly string[]): [lowest: string | null, highest: string | null] {
  const [first] = ids;
  if (first === undefined) return [null, null];
  return [
    ids.reduce((a, b) => (a < b ? a : b), first),
    ids.reduce((a, b) => (a > b ? a : b), first),
  ];
}
