import { secondsUntil, tightest, type WindowState } from '../../core/execution/limits.ts';

/** What a header tells of a window, of a key's or agent's and of what else is limited. */
type ToldWindow = Omit<WindowState, 'scope' | 'used'> & {
  readonly scope: WindowState['scope'] | 'list' | 'webhook';
};

const lengthSeconds = { minute: 60, hour: 3_600, day: 86_400 } as const;

/**
 * The headers of a limited route: all windows as `RateLimit-Policy`, the tightest as `RateLimit` (both after the
 * current draft of the IETF) and as the older `X-RateLimit-*`, where Reset is in seconds since 1970.
 */
export function rateHeaders(states: readonly ToldWindow[], nowMs: number): Record<string, string> {
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

function nameOf({ scope, window }: ToldWindow): string {
  return `${scope}-${window}`;
}
