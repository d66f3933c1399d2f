import { type Permission, permissions } from './key.ts';

/** Members of a workspace and the rights of their roles. */

export const roles = ['owner', 'editor', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Of a workspace. */
export const openInvitationsMax = 100;

/** A user's role in a workspace. */
export interface MemberRole {
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: Role;
}

/** A right of a role, named as the permission of keys. `own`: members, plan, providers, prices, retention, erasures, audit. */
export type Right = Permission;

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

/** The rights of a key now: its permissions as far as its issuer's role allows. */
export function keyRights(carried: readonly Permission[], issuer: Role): Right[] {
  return permissions.filter((one) => carried.includes(one) && hasRight(issuer, one));
}

/** A private agent is visible to its creator and to owners, a public one to every member. */
export function sees(
  member: { readonly userId: string | null; readonly role: Role },
  agent: { readonly visibility: 'private' | 'public'; readonly createdBy: string | null },
): boolean {
  if (agent.visibility === 'public' || member.role === 'owner') return true;
  return member.userId !== null && member.userId === agent.createdBy;
}
