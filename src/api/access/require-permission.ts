import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';

/** Refuses a key that is tied to agents: what it would make is none of theirs, what it would change not theirs alone. */
export function requireWholeWorkspace(caller: Caller): void {
  if (caller.allAgents) return;
  const message = 'An API key that is tied to agents may not do this.';
  throw new CallFailure('PERMISSION_DENIED', message);
}

/** Refuses who may change things but execute nothing: a trigger starts runs, as often as it likes. */
export function requireExecute(caller: Caller): void {
  requireAlso(caller, 'execute');
}

/** Refuses who may change things but read no runs. */
export function requireRead(caller: Caller): void {
  requireAlso(caller, 'read');
}

function requireAlso({ rights }: Caller, permission: 'execute' | 'read'): void {
  if (rights.includes(permission)) return;
  throw new CallFailure('PERMISSION_DENIED', `This needs the permission "${permission}" as well.`);
}
