import { type RateLimits, type Window, windows } from '../agent/limits.ts';
import type { Permission } from './key.ts';
import type { Right } from './member.ts';

/** The scope of a key, and the rule that a key cannot issue one with a wider scope. */
export interface KeyScope {
  readonly permissions: readonly Permission[];
  /** The whole workspace, as far as its issuer can see it. */
  readonly allAgents: boolean;
  readonly limits: RateLimits;
  /** Null: never. */
  readonly expiresAtMs: number | null;
}

/** The scope of the issuer; a session has no limits and does not expire. */
export interface IssuerScope extends Omit<KeyScope, 'permissions'> {
  readonly rights: readonly Right[];
}

/** The first way in which `asked` exceeds the issuer's scope, as public text; null if it does not. */
export function excess(asked: KeyScope, issuer: IssuerScope): string | null {
  const permission = asked.permissions.find((one) => !issuer.rights.includes(one));
  if (permission) return `The new key cannot have permission "${permission}": its issuer lacks it.`;
  if (asked.allAgents && !issuer.allAgents) {
    return 'The new key cannot reach the whole workspace: its issuer is restricted to agents.';
  }
  for (const window of windows) {
    const own = issuer.limits[field[window]];
    if (above(asked.limits[field[window]], own)) {
      return `"${field[window]}" of the new key must be at most ${own}, the limit of its issuer.`;
    }
  }
  if (!above(asked.expiresAtMs, issuer.expiresAtMs)) return null;
  const end = new Date(issuer.expiresAtMs ?? 0).toISOString();
  return `The new key must not expire after its issuer, which expires at ${end}.`;
}

const field = {
  minute: 'requestsPerMinute',
  hour: 'requestsPerHour',
  day: 'requestsPerDay',
} as const satisfies Record<Window, keyof RateLimits>;

/** Null means unlimited. */
function above(asked: number | null, own: number | null): boolean {
  return own !== null && (asked === null || asked > own);
}
