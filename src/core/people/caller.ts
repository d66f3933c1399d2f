import { noLimits, type RateLimits } from '../agent/limits.ts';
import { commandLine } from './audit.ts';
import { type MemberRole, type Right, type Role, rightsOf } from './member.ts';

/** The caller of a request. An unknown key is no caller: it is refused earlier. */
export interface Caller {
  readonly kind: 'key' | 'session' | 'workflow';
  /** The owner of limits, refusals and idempotency keys: the key, the session's user, or the workflow. */
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string | null;
  /** The role of the user or of the key's issuer; null after the membership ended. */
  readonly role: Role | null;
  readonly rights: readonly Right[];
  /** Revoked or expired. */
  readonly ended: boolean;
  readonly allAgents: boolean;
  readonly agentIds: readonly string[];
  readonly limits: RateLimits;
  /** The keys that a call counts for: the key itself, then the keys that issued it. Empty for other callers. */
  readonly countedKeys: readonly CountedKey[];
  readonly allowedOrigins: readonly string[];
  /** A command that opened the database, with the rights of the user. */
  readonly via?: typeof commandLine;
}

export interface CountedKey {
  readonly apiKeyId: string;
  /** Whose counts it has. */
  readonly limitSubject: string;
  readonly limits: RateLimits;
}

/** Whose calls a limit per caller counts: a key shares it with the keys that it issues. */
export function limitSubjectOf({ id, countedKeys }: Pick<Caller, 'id' | 'countedKeys'>): string {
  return countedKeys.at(-1)?.limitSubject ?? id;
}

/** Whether the caller may see what an execution costs: not with a key without `read` that is meant for browsers. */
export function seesCosts({ rights, allowedOrigins }: Pick<Caller, 'rights' | 'allowedOrigins'>) {
  return rights.includes('read') || allowedOrigins.length === 0;
}

/** A signed-in user as a member of one workspace. */
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
    countedKeys: [],
    allowedOrigins: [],
  };
}

/** A command that opens the database acts with the rights of an owner, but not in the owner's name. */
export function commandCaller(owner: Caller): Caller {
  return { ...owner, via: commandLine };
}

/** A workflow calls as itself: its author could see its agents, and its starter was permitted to start it. */
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
    countedKeys: [],
    allowedOrigins: [],
  };
}
