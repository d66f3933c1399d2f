import { type Permission, permissions } from './key.ts';

/** Members of a workspace and the rights of their roles. */

export const roles = ['owner', 'editor', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** A user's role in a workspace. */
export interface MemberRole {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: Role;
}

/**
 * A right: a permission that a key can carry, or `own` (members, plan, providers, retention), which only owners have.
 */
export type Right = Permission | 'own';

const rights: Record<Role, readonly Right[]> = {
  viewer: ['read'],
  editor: ['execute', 'read', 'cancel', 'manage'],
  owner: ['execute', 'read', 'cancel', 'manage', 'own'],
};

export function rightsOf(role: Role): readonly Right[] {
  return rights[role];
}

export function hasRight(role: Role, right: Right): boolean {
  return rights[role].includes(right);
}

/**
 * The rights of a key now: its permissions as far as its issuer's role allows. An owner's key with `manage` also has
 * `own`.
 */
export function keyRights(carried: readonly Permission[], issuer: Role): Right[] {
  const effective: Right[] = permissions.filter(
    (one) => carried.includes(one) && hasRight(issuer, one),
  );
  return effective.includes('manage') && hasRight(issuer, 'own')
    ? [...effective, 'own']
    : effective;
}

/** A private agent is visible to its creator and to owners, a public one to every member. */
export function sees(
  member: { readonly userId: string | null; readonly role: Role },
  agent: { readonly visibility: 'private' | 'public'; readonly createdBy: string | null },
): boolean {
  if (agent.visibility === 'public' || member.role === 'owner') return true;
  return member.userId !== null && member.userId === agent.createdBy;
}
