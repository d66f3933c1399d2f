import type { ReactNode } from 'react';
import type { Execution } from '../../data/executions/executions.ts';
import { formatCost, formatDuration } from '../../data/text/format.ts';

/** Whole seconds: a count that changes by the second shows no fractions. */
export const formatElapsed = (ms: number) =>
  ms < 60_000 ? `${Math.floor(ms / 1_000)} s` : formatDuration(ms);

/** Empty if neither price nor usage is known: 0 would be wrong. */
export function costCell({
  costUSD,
  costKnown,
}: Pick<Execution, 'costUSD' | 'costKnown'>): ReactNode {
  if (costUSD === undefined) return null;
  return costKnown ? formatCost(costUSD) : <span className="soft">unknown</span>;
}
