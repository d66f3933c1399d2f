import type { Caller } from '../../core/execution/caller.ts';
import { keyDefaultLimits, type RateLimits } from '../../core/execution/limits.ts';
import { CallFailure } from '../../core/failure.ts';
import { toId, uuid7 } from '../../core/id.ts';
import { type AuditAction, actorOf } from '../../core/people/audit.ts';
import { generateKey, hashKey, keyStart, type Permission } from '../../core/people/key.ts';
import { excess, type IssuerScope } from '../../core/people/key-scope.ts';
import { hasRight, type Role } from '../../core/people/member.ts';
import { lockLimits } from '../../store/admission/limits.ts';
import { readClock } from '../../store/connection/clock.ts';
import type { Db, Trx } from '../../store/connection/database.ts';
import { writeAudit } from '../../store/people/audit.ts';
import {
  copyKey,
  countVisibleAgents,
  expireKey,
  findKey,
  insertKey,
  type KeyRow,
  lockRole,
  markRevoked,
} from '../../store/people/keys.ts';
import { noSuchAgent } from '../agent/locked-agent.ts';

/**
 * Keys are issued, replaced and revoked under the locks that admission takes. None reaches further than its issuer
 * does at that moment: a key that is being revoked issues nothing that would outlive it.
 */

export interface KeyInput {
  readonly name: string;
  /** Stored ids; null for the whole workspace. */
  readonly agentIds: readonly string[] | null;
  readonly permissions: readonly Permission[];
  /** A window left out takes its default; null is no limit. */
  readonly rateLimits: Partial<RateLimits>;
  /** Null for never. */
  readonly expiresAtMs: number | null;
  readonly allowedOrigins: readonly string[];
}

/** `key` is the secret: stored nowhere, so shown now or never. */
export interface IssuedKey {
  readonly key: string;
  readonly row: KeyRow;
}

export async function issueKey(db: Db, caller: Caller, input: KeyInput): Promise<IssuedKey> {
  return locking(db, async (trx) => {
    const issuer = await holdIssuer(trx, caller);
    const nowMs = await readClock(trx);
    if (input.expiresAtMs !== null && input.expiresAtMs <= nowMs) {
      throw new CallFailure('INVALID_REQUEST', 'Field "expiresAt" must be in the future.');
    }
    const limits = { ...keyDefaultLimits, ...input.rateLimits };
    refuseExcess({ ...input, allAgents: input.agentIds === null, limits }, issuer);
    const agentIds = input.agentIds ?? [];
    const visible = await countVisibleAgents(trx, { ...caller, role: issuer.role }, agentIds);
    if (visible < agentIds.length) throw noSuchAgent();
    const { made, secret } = newKey(nowMs, issuer);
    await insertKey(trx, { ...input, ...made, workspaceId: caller.workspaceId, limits });
    await audit(trx, caller, 'key.issue', made.id, {
      name: input.name,
      permissions: input.permissions,
    });
    return { key: secret, row: await seenKey(trx, caller, made.id) };
  });
}

/**
 * A key like the old one, which stops when the grace is over. The new one is the caller's: whoever was shown a secret
 * answers for it, and it reaches no further than they do.
 */
export async function rotateKey(
  db: Db,
  caller: Caller,
  keyId: string,
  graceSeconds: number,
): Promise<IssuedKey> {
  return locking(db, async (trx) => {
    // Only what the caller sees is locked.
    await seenKey(trx, caller, keyId);
    const issuer = await holdIssuer(trx, caller, keyId);
    const old = await seenKey(trx, caller, keyId);
    if (old.ended) throw new CallFailure('CONFLICT', 'The API key has stopped already.');
    refuseExcess({ ...old, limits: old, expiresAtMs: old.expiresAt?.getTime() ?? null }, issuer);
    const { made, secret } = newKey(await readClock(trx), issuer);
    await copyKey(trx, keyId, made);
    await expireKey(trx, keyId, graceSeconds);
    const successor = toId('key', made.id);
    await audit(trx, caller, 'key.rotate', keyId, { successor, graceSeconds });
    return { key: secret, row: await seenKey(trx, caller, made.id) };
  });
}

/** At once: when this has returned, no call with the key is let in any more. Twice is the same as once. */
export async function revokeKey(db: Db, caller: Caller, keyId: string): Promise<KeyRow> {
  return locking(db, async (trx) => {
    await seenKey(trx, caller, keyId);
    await lockLimits(trx, [keyId]);
    await markRevoked(trx, keyId);
    await audit(trx, caller, 'key.revoke', keyId);
    return seenKey(trx, caller, keyId);
  });
}

export function noSuchKey(): CallFailure {
  return new CallFailure('NOT_FOUND', 'There is no such API key.');
}

interface Issuer extends IssuerScope {
  readonly userId: string;
  readonly role: Role;
}

/** What is read after a lock must be read with a later snapshot, whatever the database's default is. */
function locking<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('read committed').execute(work);
}

/**
 * The caller as it stands under the locks: since it was authenticated its key may have been revoked, its user removed
 * or given another role. `keyId` is locked with it, in the order that all locks are taken in.
 */
async function holdIssuer(trx: Trx, caller: Caller, keyId?: string): Promise<Issuer> {
  const own = caller.kind === 'key' ? [caller.id] : [];
  await lockLimits(trx, keyId === undefined ? own : [...own, keyId]);
  const { userId } = caller;
  const role = userId === null ? null : await lockRole(trx, caller.workspaceId, userId);
  const key = caller.kind === 'key' ? await findKey(trx, caller, caller.id) : neverEnds;
  if (userId === null || role === null || !key || key.ended) {
    throw new CallFailure('UNAUTHORIZED', 'The API key or session is no longer valid.');
  }
  const rights = caller.rights.filter((right) => hasRight(role, right));
  if (!rights.includes('manage')) {
    throw new CallFailure('PERMISSION_DENIED', `The role ${role} may not do this.`);
  }
  const { allAgents, limits } = caller;
  return { userId, role, rights, allAgents, limits, expiresAtMs: key.expiresAt?.getTime() ?? null };
}

/** A session ends too, but it is no bound for what it issues. */
const neverEnds = { ended: false, expiresAt: null };

function refuseExcess(...scopes: Parameters<typeof excess>): void {
  const message = excess(...scopes);
  if (message) throw new CallFailure('PERMISSION_DENIED', message);
}

async function seenKey(trx: Trx, caller: Caller, keyId: string): Promise<KeyRow> {
  const row = await findKey(trx, caller, keyId);
  if (!row) throw noSuchKey();
  return row;
}

function audit(
  trx: Trx,
  caller: Caller,
  action: AuditAction,
  keyId: string,
  details?: Record<string, unknown>,
): Promise<void> {
  const line = { action, subject: toId('key', keyId), ...(details && { details }) };
  return writeAudit(trx, actorOf(caller), line);
}

function newKey(nowMs: number, issuer: Issuer) {
  const secret = generateKey();
  const made = { id: uuid7(nowMs), hash: hashKey(secret), start: keyStart(secret) };
  return { secret, made: { ...made, issuedBy: issuer.userId } };
}
