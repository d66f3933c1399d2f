import { toText } from '../client/search-params.ts';

/** The time range as search parameters. Small, because the first page loads every route. */

export const presets = ['6h', '24h', 'yesterday', '7d', '30d', '90d'] as const;
export type Preset = (typeof presets)[number];

/** As search parameters. `from` and `to` are the first and the last moment; they take precedence. */
export interface RangeSearch {
  readonly range?: Preset | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function readRangeSearch(given: Record<string, unknown>): RangeSearch {
  const range = presets.find((one) => one === given.range);
  const [from, to] = [toTime(given.from), toTime(given.to)];
  if (from !== null && to !== null && from <= to) {
    return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  }
  return range === undefined ? {} : { range };
}

function toTime(value: unknown): number | null {
  const ms = value === undefined ? Number.NaN : Date.parse(toText(value));
  return Number.isNaN(ms) ? null : ms;
}
