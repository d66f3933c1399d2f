import { secondsUntil, tightest, type WindowState } from '../../core/agent/limits.ts';

/** A rate limit window that headers show: of a key, an agent, list or management calls, or webhook events. */
type ShownWindow = Omit<WindowState, 'scope' | 'used'> & {
  readonly scope: WindowState['scope'] | 'list' | 'management' | 'webhook';
};

const lengthSeconds = { minute: 60, hour: 3_600, day: 86_400 } as const;

/**
 * The headers of a limited route. `RateLimit-Policy` lists all windows; `RateLimit` shows the tightest (both follow the
 * IETF draft). The older `X-RateLimit-*` show it too, with Reset in seconds since 1970.
 */
export function rateHeaders(all: readonly ShownWindow[], nowMs: number): Record<string, string> {
  // Of a key and the keys that issued it, the tightest window counts.
  const states = [...Map.groupBy(all, nameOf).values()].flatMap((same) => tightest(same) ?? []);
  const first = tightest(states);
  if (!first) return {};
  const policies = states.map(
    (one) => `"${nameOf(one)}";q=${one.limit};w=${lengthSeconds[one.window]}`,
  );
  return {
    'ratelimit-policy': policies.join(', '),
    ratelimit: `"${nameOf(first)}";r=${first.remaining};t=${secondsUntil(first.resetAtMs, nowMs)}`,
    'x-ratelimit-limit': String(first.limit),
    'x-ratelimit-remaining': String(first.remaining),
    'x-ratelimit-reset': String(Math.ceil(first.resetAtMs / 1000)),
  };
}

/** The windows in a response. */
export function usageOfWindows(states: readonly WindowState[]) {
  return states.map((state) => ({ ...state, resetAt: state.resetAtMs }));
}

function nameOf({ scope, window }: ShownWindow): string {
  return `${scope}-${window}`;
}
