import { type RateLimits, type Window, windows } from '../execution/limits.ts';
import type { Permission } from './key.ts';
import type { Right } from './member.ts';

/** How far a key reaches, and the rule that none issues one that reaches further than itself. */
export interface KeyScope {
  readonly permissions: readonly Permission[];
  /** The whole workspace, as far as its issuer sees it. */
  readonly allAgents: boolean;
  readonly limits: RateLimits;
  /** Null for never. */
  readonly expiresAtMs: number | null;
}

/** The reach of whoever issues; a session has no limits and no end. */
export interface IssuerScope extends Omit<KeyScope, 'permissions'> {
  readonly rights: readonly Right[];
}

/** The first way in which `asked` reaches further than its issuer, as public text; null where it does not. */
export function excess(asked: KeyScope, issuer: IssuerScope): string | null {
  const permission = asked.permissions.find((one) => !issuer.rights.includes(one));
  if (permission) return `The new key cannot have permission "${permission}": its issuer lacks it.`;
  if (asked.allAgents && !issuer.allAgents) {
    return 'The new key cannot reach the whole workspace: its issuer is tied to agents.';
  }
  for (const window of windows) {
    const own = issuer.limits[field[window]];
    if (above(asked.limits[field[window]], own)) {
      return `"${field[window]}" of the new key must be at most ${own}, as that of its issuer is.`;
    }
  }
  if (!above(asked.expiresAtMs, issuer.expiresAtMs)) return null;
  const end = new Date(issuer.expiresAtMs ?? 0).toISOString();
  return `The new key must not expire after ${end}: its issuer does then.`;
}

const field = {
  minute: 'requestsPerMinute',
  hour: 'requestsPerHour',
  day: 'requestsPerDay',
} as const satisfies Record<Window, keyof RateLimits>;

/** Null is without end. */
function above(asked: number | null, own: number | null): boolean {
  return own !== null && (asked === null || asked > own);
}
