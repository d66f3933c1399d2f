import type { RateLimitUsage } from '../../../contract/shared.ts';
import type { WindowState } from '../../../core/execution/limits.ts';

/** Rate limit windows in API format. */
export function limitWire(states: readonly WindowState[]): RateLimitUsage {
  return states.map(({ resetAtMs, ...state }) => ({
    ...state,
    resetAt: new Date(resetAtMs).toISOString(),
  }));
}
