/** The time ranges of the charts, as a search parameter. */
export const ranges = ['24h', '7d', '30d'] as const;
export type Range = (typeof ranges)[number];

export function readRange({ range }: Record<string, unknown>): { readonly range?: Range } {
  const known = ranges.find((one) => one === range);
  return known ? { range: known } : {};
}
