import { toUnits } from '../../core/decimal.ts';
import { type Ended, failed } from '../../core/execution/outcome.ts';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import type { CallBound, Unbounded } from '../../core/model/call-bound.ts';
import type { ReserveCall } from '../budgets/reserve-calls.ts';

/**
 * Whether the bound of the next call must be reserved before it is sent: somewhere nothing is, or less than that. If its price is not
 * known any more, its budgets decide again, unless they have reserved nothing because they did not know it. They also do if an
 * option of this model or provider is the reason.
 */
function mustReserve(
  { mustReserve: isMissing, reservedUsd }: QueuedExecution,
  bound: CallBound | Unbounded,
): boolean {
  if (isMissing || reservedUsd === null) return isMissing;
  if (bound.kind === 'bound' && bound.usd === reservedUsd) return false;
  const reserved = toUnits(reservedUsd) ?? 0n;
  if (bound.kind === 'unbounded') return reserved > 0n || bound.option !== null;
  return (toUnits(bound.usd) ?? 0n) > reserved;
}

/** Null if the call may be sent. `lost` if the claim does not hold the execution any more. No fallback model is tried. */
export async function reserveNext(
  reserve: ReserveCall,
  execution: QueuedExecution,
  bound: CallBound | Unbounded,
): Promise<Ended | 'lost' | null> {
  if (!mustReserve(execution, bound)) return null;
  const reserved = await reserve({ execution, bound });
  switch (reserved.kind) {
    case 'reserved':
      return null;
    case 'lost':
      return 'lost';
    case 'unbounded':
      return failed('PRICE_UNKNOWN', bound.kind === 'bound' ? '' : bound.reason);
    case 'exceeded':
      return failed(reserved.code, reserved.message);
  }
}
