import { keyDefaultLimits, type RateLimits } from '../../../core/agent/limits.ts';
import { CallFailure, invalidRequest, notFound, requireFound } from '../../../core/failure.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import type { Caller, CountedKey } from '../../../core/people/caller.ts';
import { generateKey, hashKey, keyStart, type Permission } from '../../../core/people/key.ts';
import { excess, type IssuerScope } from '../../../core/people/key-scope.ts';
import { hasRight, type Role } from '../../../core/people/member.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { moveEndpoints } from '../statements/endpoint-owners.ts';
import {
  copyKey,
  countVisibleAgents,
  expireKey,
  findKey,
  insertKey,
  type KeyChain,
  type KeyRow,
  lockKeys,
  lockRole,
  markRevoked,
  writeKey,
} from '../statements/keys.ts';
import { auditChange } from './audit-change.ts';
import { keysRevoked } from './key-events.ts';

/**
 * Issues, changes, rotates and revokes API keys under the locks of admission. A new key never has more rights than its issuer at
 * that moment, so a key that is being revoked cannot issue another one.
 */

export interface KeyInput {
  readonly name: string;
  /** Stored ids; null for the whole workspace. */
  readonly agentIds: readonly string[] | null;
  readonly permissions: readonly Permission[];
  /** A missing window has its default; null means no limit. */
  readonly rateLimits: Partial<RateLimits>;
  /** Null for a key that does not expire. */
  readonly expiresAtMs: number | null;
  readonly allowedOrigins: readonly string[];
}

/** `key` is the secret. It is not stored, so show it now. */
export interface IssuedKey {
  readonly key: string;
  readonly row: KeyRow;
}

export async function issueKey(db: Db, caller: Caller, input: KeyInput): Promise<IssuedKey> {
  if (input.agentIds && input.permissions.includes('own')) {
    throw invalidRequest(
      'Permission "own" applies to the whole workspace. It requires "agentIds": null.',
    );
  }
  return inTransaction(db, async (trx) => {
    const issuer = await lockIssuer(trx, caller);
    const nowMs = await readClock(trx);
    if (input.expiresAtMs !== null && input.expiresAtMs <= nowMs) {
      throw invalidRequest('Field "expiresAt" must be in the future.');
    }
    const limits = { ...keyDefaultLimits, ...input.rateLimits };
    refuseExcess({ ...input, allAgents: input.agentIds === null, limits }, issuer);
    const agentIds = input.agentIds ?? [];
    const visible = await countVisibleAgents(trx, { ...caller, role: issuer.role }, agentIds);
    if (visible < agentIds.length) throw notFound('agent');
    const { created, secret } = newKey(nowMs, issuer, chainOf(caller.countedKeys));
    await insertKey(trx, { ...input, ...created, workspaceId: caller.workspaceId, limits });
    await auditChange(trx, caller, 'key.issue', created.id, {
      name: input.name,
      permissions: input.permissions,
    });
    return { key: secret, row: await visibleKey(trx, caller, created.id) };
  });
}

/**
 * Issues a copy of a key and ends the old one after the grace period. The copy belongs to the caller, who sees the secret,
 * and has no more rights than the caller.
 */
export async function rotateKey(
  db: Db,
  caller: Caller,
  keyId: string,
  graceSeconds: number,
): Promise<IssuedKey> {
  return inTransaction(db, async (trx) => {
    const { issuer, old } = await lockOpenKey(trx, caller, keyId);
    refuseExcess({ ...old, limits: old, expiresAtMs: old.expiresAt?.getTime() ?? null }, issuer);
    const { created, secret } = newKey(await readClock(trx), issuer, chainOfCopy(caller, old));
    await copyKey(trx, keyId, created);
    await moveEndpoints(trx, keyId, created.id);
    await expireKey(trx, keyId, graceSeconds);
    const successor = toId('key', created.id);
    await auditChange(trx, caller, 'key.rotate', keyId, { successor, graceSeconds });
    return { key: secret, row: await visibleKey(trx, caller, created.id) };
  });
}

export interface KeyPatch {
  readonly name?: string;
  /** A missing window does not change. */
  readonly rateLimits?: Partial<RateLimits>;
}

/** Changes the name and the limits. Calls that are admitted later count against the new limits. */
export async function updateKey(
  db: Db,
  caller: Caller,
  keyId: string,
  { name, rateLimits }: KeyPatch,
): Promise<KeyRow> {
  return inTransaction(db, async (trx) => {
    const { issuer, old } = await lockOpenKey(trx, caller, keyId);
    const { requestsPerMinute, requestsPerHour, requestsPerDay } = old;
    const limits = { requestsPerMinute, requestsPerHour, requestsPerDay, ...rateLimits };
    if (rateLimits) {
      refuseExcess({ ...old, limits, expiresAtMs: old.expiresAt?.getTime() ?? null }, issuer);
    }
    await writeKey(trx, keyId, { name: name ?? old.name, limits });
    const changed = { ...(name !== undefined && { name }), ...(rateLimits && { rateLimits }) };
    if (Object.keys(changed).length > 0)
      await auditChange(trx, caller, 'key.change', keyId, changed);
    return visibleKey(trx, caller, keyId);
  });
}

/** After it returns, no call with the key is admitted. Idempotent. */
export async function revokeKey(db: Db, caller: Caller, keyId: string): Promise<KeyRow> {
  return inTransaction(db, async (trx) => {
    refuseOwnersKey(caller.role, await visibleKey(trx, caller, keyId));
    await lockKeys(trx, [keyId]);
    const revoked = await markRevoked(trx, keyId);
    await auditChange(trx, caller, 'key.revoke', keyId);
    const row = await visibleKey(trx, caller, keyId);
    await writeEvents(trx, await keysRevoked(trx, caller.workspaceId, revoked));
    return row;
  });
}

/** Locks the caller and a key that it may change. */
async function lockOpenKey(
  trx: Trx,
  caller: Caller,
  keyId: string,
): Promise<{ readonly issuer: Issuer; readonly old: KeyRow }> {
  // Before the lock: the caller must not lock keys that it cannot see.
  await visibleKey(trx, caller, keyId);
  const issuer = await lockIssuer(trx, caller, keyId);
  const old = await visibleKey(trx, caller, keyId);
  refuseOwnersKey(issuer.role, old);
  if (old.ended) throw new CallFailure('CONFLICT', 'The API key has already ended.');
  return { issuer, old };
}

/** An owner's key for the whole workspace may serve applications beyond the agents that an editor sees. */
function refuseOwnersKey(role: Role | null, { allAgents, issuerRole }: KeyRow): void {
  if (!allAgents || issuerRole !== 'owner' || role === 'owner') return;
  const message =
    'Only an owner may change, revoke or rotate a key of an owner for the whole workspace.';
  throw new CallFailure('PERMISSION_DENIED', message);
}

interface Issuer extends IssuerScope {
  readonly userId: string;
  readonly role: Role;
}

/**
 * Locks and reads the caller: since authentication its key may have been revoked, or its user removed or demoted. `keyId`
 * is locked in the same statement, to keep the lock order.
 */
async function lockIssuer(trx: Trx, caller: Caller, keyId?: string): Promise<Issuer> {
  const own = caller.kind === 'key' ? [caller.id] : [];
  await lockKeys(trx, keyId === undefined ? own : [...own, keyId]);
  const { userId } = caller;
  const role = userId === null ? null : await lockRole(trx, caller.workspaceId, userId);
  const key = caller.kind === 'key' ? await findKey(trx, caller, caller.id) : neverEnds;
  if (userId === null || role === null || !key || key.ended) {
    throw new CallFailure('UNAUTHORIZED', 'The API key or session is no longer valid.');
  }
  const rights = caller.rights.filter((right) => hasRight(role, right));
  if (!rights.includes('manage')) {
    throw new CallFailure('PERMISSION_DENIED', `The role ${role} does not allow this.`);
  }
  const { allAgents, limits } = caller;
  return { userId, role, rights, allAgents, limits, expiresAtMs: key.expiresAt?.getTime() ?? null };
}

/** The end of a session does not limit the keys it issues. */
const neverEnds = { ended: false, expiresAt: null };

function refuseExcess(...scopes: Parameters<typeof excess>): void {
  const message = excess(...scopes);
  if (message) throw new CallFailure('PERMISSION_DENIED', message);
}

async function visibleKey(trx: Trx, caller: Caller, keyId: string): Promise<KeyRow> {
  return requireFound(await findKey(trx, caller, keyId), 'API key');
}

function newKey(nowMs: number, issuer: Issuer, chain: KeyChain) {
  const secret = generateKey();
  const created = { id: uuid7(nowMs), hash: hashKey(secret), start: keyStart(secret) };
  return { secret, created: { ...created, issuedBy: issuer.userId, chain } };
}

/** Each call locks and counts for the whole chain. */
const issuingKeysMax = 10;

function chainOf(keys: readonly Pick<CountedKey, 'apiKeyId' | 'limitSubject'>[]): KeyChain {
  if (keys.length > issuingKeysMax) {
    const message = `A chain of issued keys has at most ${issuingKeysMax} levels. This key cannot issue another.`;
    throw new CallFailure('PERMISSION_DENIED', message);
  }
  return {
    issuingKeys: keys.map(({ apiKeyId }) => apiKeyId),
    limitSubjects: keys.map(({ limitSubject }) => limitSubject),
  };
}

/**
 * A copy keeps the issuers of the old key. If another key rotates it, that key has issued the copy: its holder has seen the
 * secret.
 */
function chainOfCopy(caller: Caller, { id, issuingKeys, limitSubjects }: KeyRow): KeyChain {
  const own = issuingKeys.map((apiKeyId, at) => ({
    apiKeyId,
    limitSubject: limitSubjects[at + 1] ?? apiKeyId,
  }));
  if (caller.id === id) return chainOf(own);
  const before = caller.countedKeys;
  if (before.some(({ apiKeyId }) => apiKeyId === id)) {
    throw new CallFailure('PERMISSION_DENIED', 'A key cannot rotate a key that issued it.');
  }
  const more = own.filter(({ apiKeyId }) => before.every((one) => one.apiKeyId !== apiKeyId));
  return chainOf([...before, ...more]);
}
