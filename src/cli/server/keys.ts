import { checkBody } from '../../api/http/validate.ts';
import { keyWire } from '../../api/routes/workspace/key-wire.ts';
import type { Body } from '../../contract/endpoint.ts';
import * as contract from '../../contract/workspace/keys.ts';
import { CallFailure } from '../../core/failure.ts';
import { fromId, toId } from '../../core/id.ts';
import { parseMoment } from '../../core/time.ts';
import { noSuchAgent } from '../../flow/agent/locked-agent.ts';
import * as flow from '../../flow/workspace/issue-key.ts';
import * as store from '../../store/people/keys.ts';
import { type Bound, orNull } from '../arguments.ts';
import { everyPage } from '../client/pages.ts';
import { printDone, printList } from '../client/print.ts';
import type { Context } from '../command.ts';
import { createFirstWorkspace, firstOwner, openCurrent } from './first-workspace.ts';

/** API keys from the command line, as the first owner of a workspace issues and ends them. */

export interface KeyOptions {
  readonly json?: boolean;
  readonly workspace?: string;
}

export interface NewKeyOptions extends KeyOptions {
  readonly name: string;
  readonly permission: string[];
  readonly agent?: string[];
  readonly requestsPerMinute?: Bound;
  readonly requestsPerHour?: Bound;
  readonly requestsPerDay?: Bound;
  readonly expiresAt?: string;
}

/** Makes the first workspace too, where there is none and none is named. */
export async function createKey(context: Context, options: NewKeyOptions): Promise<void> {
  const input = keyInput(options);
  const db = await openCurrent(context);
  // An agent that is named is in a workspace, or is not there at all.
  if (!options.workspace && !input.agentIds) await createFirstWorkspace(db, context);
  await printIssued(
    await flow.issueKey(db, await firstOwner(db, options.workspace), input),
    options,
  );
}

export async function listKeys(
  context: Context,
  { workspace, json = false }: KeyOptions,
): Promise<void> {
  const db = await openCurrent(context);
  const owner = await firstOwner(db, workspace);
  const keys = everyPage(async (page) => {
    const { rows, total } = await store.listKeys(db, owner, page);
    return { rows: rows.map(keyWire), total };
  });
  const fields = ['apiKeyId', 'name', 'start', 'permissions', 'expiresAt', 'revokedAt'] as const;
  await printList(keys, fields, json);
}

export async function revokeKey(
  context: Context,
  apiKeyId: string,
  { workspace, json = false }: KeyOptions,
): Promise<void> {
  const db = await openCurrent(context);
  const row = await flow.revokeKey(db, await firstOwner(db, workspace), keyId(apiKeyId));
  await printDone(keyWire(row), `${apiKeyId} is revoked.`, json);
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
  const db = await openCurrent(context);
  const owner = await firstOwner(db, workspace);
  const { graceSeconds = 0 } = body;
  const issued = await flow.rotateKey(db, owner, keyId(apiKeyId), graceSeconds);
  await printIssued(issued, { json });
}

/** As the API reads it: the same bounds, and the same words where one is passed. */
function keyInput({ agent, permission, expiresAt, ...options }: NewKeyOptions): flow.KeyInput {
  const { name, requestsPerMinute, requestsPerHour, requestsPerDay } = options;
  const windows = { requestsPerMinute, requestsPerHour, requestsPerDay };
  const rateLimits = Object.entries(windows).flatMap(([window, limit]) =>
    limit === undefined ? [] : [[window, orNull(limit)]],
  );
  const body = checkBody<Body<typeof contract.createKey>>(contract.createKey.body, {
    ...{ name, permissions: [...new Set(permission)] },
    agentIds: agent ? [...new Set(agent)] : null,
    rateLimits: Object.fromEntries(rateLimits),
    ...(expiresAt !== undefined && { expiresAt }),
  });
  return {
    ...{ name, permissions: body.permissions, rateLimits: body.rateLimits ?? {} },
    agentIds: body.agentIds?.map(agentId) ?? null,
    expiresAtMs: expiresAt === undefined ? null : moment(expiresAt),
    allowedOrigins: [],
  };
}

function agentId(wireId: string): string {
  const id = fromId('agent', wireId);
  if (id === null) throw noSuchAgent();
  return id;
}

function keyId(wireId: string): string {
  const id = fromId('key', wireId);
  if (id === null) throw flow.noSuchKey();
  return id;
}

/** The last moment that is written with four digits of the year. */
const momentMsMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function moment(text: string): number {
  const ms = parseMoment(text);
  if (ms !== null && ms <= momentMsMax) return ms;
  throw new CallFailure('INVALID_REQUEST', '--expires-at must be an ISO 8601 date or time.');
}

/** The contract of `keys create --json`: these two and no more. */
function printIssued({ key, row }: flow.IssuedKey, { json = false }: KeyOptions): Promise<void> {
  const issued = { apiKeyId: toId('key', row.id), key };
  const text = `${key}\n\nThat is the key ${issued.apiKeyId}, shown this once.`;
  return printDone(issued, text, json);
}
