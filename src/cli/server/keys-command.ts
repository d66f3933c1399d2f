import { invalidRequest, notFound } from '../../core/failure.ts';
import { fromId, toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import { parseMoment } from '../../core/time.ts';
import type { Db } from '../../db/database.ts';
import { findNamed } from '../../features/agents/statements/slugs.ts';
import * as contract from '../../features/people/contract/keys-contract.ts';
import { withUsage } from '../../features/people/routes/keys-routes.ts';
import * as store from '../../features/people/statements/keys.ts';
import * as flow from '../../features/people/verbs/issue-key.ts';
import type { Body } from '../../http/contract/operation.ts';
import { checkBody } from '../../http/request/validate.ts';
import { toWire } from '../../http/response/to-wire.ts';
import { type NumberOrNone, noneToNull } from '../arguments.ts';
import { allPages } from '../client/pages.ts';
import { printDone, printList } from '../client/print.ts';
import type { Context } from '../command.ts';
import { createFirstWorkspace, firstOwner, openMigrated } from './first-workspace.ts';
import { printSecret } from './print-secret.ts';

/** `cueline keys`: manages API keys with the rights of the first owner. */

export interface KeyOptions {
  readonly json?: boolean;
  readonly workspace?: string;
}

export interface NewKeyOptions extends KeyOptions {
  readonly name: string;
  readonly permission: string[];
  readonly agent?: string[];
  readonly requestsPerMinute?: NumberOrNone;
  readonly requestsPerHour?: NumberOrNone;
  readonly requestsPerDay?: NumberOrNone;
  readonly expiresAt?: string;
}

/** Also creates the first workspace if there is none and no workspace is given. */
export async function createKey(context: Context, options: NewKeyOptions): Promise<void> {
  const { agents, ...input } = keyInput(options);
  const db = await openMigrated(context);
  // A given agent implies an existing workspace.
  if (!options.workspace && !agents) await createFirstWorkspace(db, context);
  const owner = await firstOwner(db, options.workspace);
  const agentIds = agents && (await Promise.all(agents.map((name) => agentId(db, owner, name))));
  await printIssued(
    await flow.issueKey(db, owner, { ...input, agentIds: agentIds && [...new Set(agentIds)] }),
    options,
  );
}

export async function listKeys(
  context: Context,
  { workspace, json = false }: KeyOptions,
): Promise<void> {
  const db = await openMigrated(context);
  const owner = await firstOwner(db, workspace);
  const keys = allPages(async (page) => {
    const { rows, total } = await store.listKeys(db, owner, page);
    return { rows: rows.map(apiKey), total };
  });
  const fields = ['apiKeyId', 'name', 'start', 'permissions', 'expiresAt', 'revokedAt'] as const;
  await printList(keys, fields, json);
}

export async function revokeKey(
  context: Context,
  apiKeyId: string,
  { workspace, json = false }: KeyOptions,
): Promise<void> {
  const db = await openMigrated(context);
  const row = await flow.revokeKey(db, await firstOwner(db, workspace), keyId(apiKeyId));
  await printDone(apiKey(row), `Revoked ${apiKeyId}.`, json);
}

export interface RotateOptions extends KeyOptions {
  readonly graceSeconds?: number;
}

export async function rotateKey(
  context: Context,
  apiKeyId: string,
  { workspace, json = false, ...options }: RotateOptions,
): Promise<void> {
  const body = checkBody<Body<typeof contract.rotateKey>>(contract.rotateKey.body, options);
  const db = await openMigrated(context);
  const owner = await firstOwner(db, workspace);
  const { graceSeconds = 0 } = body;
  const issued = await flow.rotateKey(db, owner, keyId(apiKeyId), graceSeconds);
  await printIssued(issued, { json });
}

/** Validates like the API, with the same limits and messages. */
function keyInput({
  agent,
  permission,
  expiresAt,
  ...options
}: NewKeyOptions): Omit<flow.KeyInput, 'agentIds'> & { readonly agents: string[] | null } {
  const { name, requestsPerMinute, requestsPerHour, requestsPerDay } = options;
  const windows = { requestsPerMinute, requestsPerHour, requestsPerDay };
  const rateLimits = Object.entries(windows).flatMap(([window, limit]) =>
    limit === undefined ? [] : [[window, noneToNull(limit)]],
  );
  const body = checkBody<Body<typeof contract.createKey>>(contract.createKey.body, {
    name,
    permissions: [...new Set(permission)],
    agentIds: agent ? [...new Set(agent)] : null,
    rateLimits: Object.fromEntries(rateLimits),
    ...(expiresAt !== undefined && { expiresAt }),
  });
  return {
    name,
    permissions: body.permissions,
    rateLimits: body.rateLimits ?? {},
    agents: body.agentIds && [...body.agentIds],
    expiresAtMs: expiresAt === undefined ? null : parseExpiry(expiresAt),
    allowedOrigins: [],
  };
}

/** Of its identifier, slug or alias. */
async function agentId(db: Db, { workspaceId }: Caller, name: string): Promise<string> {
  const id = fromId('agent', name) ?? (await findNamed(db, workspaceId, name));
  if (id === null) throw notFound('agent');
  return id;
}

function apiKey(row: store.KeyRow) {
  return toWire(contract.ApiKey, withUsage(row));
}

function keyId(wireId: string): string {
  const id = fromId('key', wireId);
  if (id === null) throw notFound('API key');
  return id;
}

/** The last time with a four-digit year. */
const expiryMsMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function parseExpiry(text: string): number {
  const ms = parseMoment(text);
  if (ms !== null && ms <= expiryMsMax) return ms;
  throw invalidRequest('--expires-at must be an ISO 8601 date or time.');
}

/** The output of `keys create --json` is part of the public interface. */
function printIssued({ key, row }: flow.IssuedKey, { json = false }: KeyOptions): Promise<void> {
  const record = { apiKeyId: toId('key', row.id), key };
  return printSecret(key, `Issued ${record.apiKeyId}. The key is shown once.`, { record, json });
}
