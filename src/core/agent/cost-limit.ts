import { floatToUnits, toDecimal } from '../decimal.ts';

/** In US dollars. */
export const costLimitMax = 1_000_000;

export function isCostLimit(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= costLimitMax;
}

const places = 24;

/** A limit as decimal text. Of one below the last decimal place, nothing fits but what is free. */
export function costLimitText(usd: number): string {
  return toDecimal(floatToUnits(usd) ?? 1n, 1n, places);
}
