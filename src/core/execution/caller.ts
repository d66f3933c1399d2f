import { type MemberRole, type Right, type Role, rightsOf } from '../people/member.ts';
import { noLimits, type RateLimits } from './limits.ts';

/** Who calls. A key that was never issued is no caller: it is refused before. */
export interface Caller {
  readonly kind: 'key' | 'session' | 'workflow';
  /** Whom limits, refusals and idempotency keys belong to: the key, the user of a session, or the workflow. */
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string | null;
  /** The role of the user or of the key's issuer; null once that membership has ended. */
  readonly role: Role | null;
  readonly rights: readonly Right[];
  /** Revoked or expired. */
  readonly ended: boolean;
  readonly allAgents: boolean;
  readonly agentIds: readonly string[];
  readonly limits: RateLimits;
  readonly allowedOrigins: readonly string[];
}

/** Somebody who is signed in, as a member of one of their workspaces. */
export function sessionCaller({ workspaceId, userId, role }: MemberRole): Caller {
  return {
    kind: 'session',
    id: userId,
    workspaceId,
    userId,
    role,
    rights: rightsOf(role),
    ended: false,
    allAgents: true,
    agentIds: [],
    limits: noLimits,
    allowedOrigins: [],
  };
}

/** A workflow as itself: whoever saved it saw the agents, and whoever started it had to be let. */
export function workflowCaller(
  who: Readonly<Pick<Caller, 'id' | 'workspaceId' | 'userId'>>,
): Caller {
  return {
    kind: 'workflow',
    id: who.id,
    workspaceId: who.workspaceId,
    userId: who.userId,
    role: 'owner',
    rights: ['execute'],
    ended: false,
    allAgents: true,
    agentIds: [],
    limits: noLimits,
    allowedOrigins: [],
  };
}
