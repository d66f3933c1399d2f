import { type Permission, permissions } from './key.ts';

/** Members of a workspace and what their role lets them do. */

export const roles = ['owner', 'editor', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Who has which role where. */
export interface MemberRole {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: Role;
}

/** A right is a permission a key can carry, or what only owners have: members, plan, providers, retention. */
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
 * What a key may do now: what it carries, as far as its issuer's role still reaches. With `manage` the key of an
 * owner may do what only owners may.
 */
export function keyRights(carried: readonly Permission[], issuer: Role): Right[] {
  const held: Right[] = permissions.filter((one) => carried.includes(one) && hasRight(issuer, one));
  return held.includes('manage') && hasRight(issuer, 'own') ? [...held, 'own'] : held;
}

/** A private agent is seen by its creator and by owners, a public one by every member. */
export function sees(
  member: { readonly userId: string | null; readonly role: Role },
  agent: { readonly visibility: 'private' | 'public'; readonly createdBy: string | null },
): boolean {
  if (agent.visibility === 'public' || member.role === 'owner') return true;
  return member.userId !== null && member.userId === agent.createdBy;
}
