/** In US dollars. */
export const costLimitMax = 1_000_000;

export function isCostLimit(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= costLimitMax;
}
