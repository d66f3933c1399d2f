import type { ModelSetup } from '../model/model-port.ts';
import { toDecimal, toUnits } from '../decimal.ts';

/** TO BE REPLACED by the bound of a call. */
export function stubBound({ price }: ModelSetup, maxTokens: number): string | null {
  if (price === null) return null;
  const output = toUnits(price.outputPerMillion) ?? 0n;
  return toDecimal(output * BigInt(maxTokens), 1_000_000n, 10);
}
