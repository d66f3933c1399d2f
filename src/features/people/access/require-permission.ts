import { CallFailure } from '../../../core/failure.ts';
import type { Caller } from '../../../core/people/caller.ts';

/** Rejects a key that is restricted to agents: the operation affects more than those agents. */
export function requireWholeWorkspace(caller: Caller): void {
  if (caller.allAgents) return;
  const message = 'An API key that is restricted to agents cannot do this.';
  throw new CallFailure('PERMISSION_DENIED', message);
}

/** For operations that need a permission besides that of their endpoint. */
export function requirePermission(
  { rights }: Caller,
  permission: 'execute' | 'read' | 'cancel' | 'manage' | 'own',
): void {
  if (rights.includes(permission)) return;
  throw new CallFailure('PERMISSION_DENIED', `This also requires the permission "${permission}".`);
}
