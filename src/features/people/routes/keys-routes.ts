import type { FastifyInstance } from 'fastify';
import { keyLimits, peekWindows } from '../../../core/agent/limits.ts';
import { invalidRequest } from '../../../core/failure.ts';
import { storedIds } from '../../../core/id.ts';
import { parseMoment } from '../../../core/time.ts';
import type { Body } from '../../../http/contract/operation.ts';
import { usageOfWindows } from '../../../http/limits/rate-headers.ts';
import { pageOf, readPage } from '../../../http/request/page-query.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { createKey, listKeys, revokeKey, rotateKey, updateKey } from '../contract/keys-contract.ts';
import * as store from '../statements/keys.ts';
import * as flow from '../verbs/issue-key.ts';

/** Issues, lists, revokes and rotates API keys. */
export function keyRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, createKey, async ({ body, caller }) => {
    const { key, row } = await flow.issueKey(db, caller, keyInput(body));
    return { result: { ...withUsage(row), key } };
  });

  route(app, deps, listKeys, async ({ query, caller }) => {
    const page = readPage(query);
    const { revoked = null } = query;
    const { rows, total } = await store.listKeys(db, caller, { ...page, revoked });
    return { result: pageOf('keys', page, { rows: rows.map(withUsage), total }) };
  });

  route(app, deps, updateKey, async ({ ids, body, caller }) => {
    return { result: withUsage(await flow.updateKey(db, caller, ids.apiKeyId, body)) };
  });

  route(app, deps, revokeKey, async ({ ids, caller }) => {
    return { result: withUsage(await flow.revokeKey(db, caller, ids.apiKeyId)) };
  });

  route(app, deps, rotateKey, async ({ ids, body: { graceSeconds = 0 }, caller }) => {
    const { key, row } = await flow.rotateKey(db, caller, ids.apiKeyId, graceSeconds);
    return { result: { ...withUsage(row), key } };
  });
}

/** A key without its secret and hash. */
export function withUsage(row: store.KeyRow) {
  return {
    ...row,
    agentIds: row.allAgents ? null : row.agentIds,
    rateLimits: row,
    rateLimitUsage: usageOfWindows(peekWindows(row.counts, keyLimits(row), row.nowMs)),
    createdBy: row.issuedBy,
    parentApiKeyId: row.issuingKeys[0] ?? null,
  };
}

function keyInput(body: Body<typeof createKey>): flow.KeyInput {
  const { name, permissions, agentIds, rateLimits = {}, expiresAt, allowedOrigins = [] } = body;
  return {
    name,
    permissions,
    rateLimits,
    allowedOrigins,
    agentIds: storedIds('agent', agentIds),
    expiresAtMs: expiresAt == null ? null : parseExpiry(expiresAt),
  };
}

/** The last time with a four-digit year. */
const expiryMsMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function parseExpiry(text: string): number {
  const ms = parseMoment(text);
  if (ms !== null && ms <= expiryMsMax) return ms;
  throw invalidRequest(
    'Field "expiresAt" must be an ISO 8601 date or time, such as 2027-01-01T00:00:00Z.',
  );
}
