import type { RateLimitUsage } from '../../../contract/shared.ts';
import type { WindowState } from '../../../core/execution/limits.ts';

/** Windows as the API shows them. */
export function limitWire(states: readonly WindowState[]): RateLimitUsage {
  return states.map(({ resetAtMs, ...state }) => ({
    ...state,
    resetAt: new Date(resetAtMs).toISOString(),
  }));
}
