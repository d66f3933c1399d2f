import type { FastifyInstance } from 'fastify';
import type { Body } from '../../../contract/endpoint.ts';
import {
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  updateKey,
} from '../../../contract/workspace/keys.ts';
import { invalidRequest, notFound } from '../../../core/failure.ts';
import { fromId } from '../../../core/id.ts';
import { parseMoment } from '../../../core/time.ts';
import * as flow from '../../../flow/workspace/issue-key.ts';
import * as store from '../../../store/people/keys.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { pageResponse, readPage } from '../../http/request/page.ts';
import { route } from '../../http/route.ts';
import { keyWire } from './key-wire.ts';

/** Issues, lists, revokes and rotates API keys. */
export function keyRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, createKey, async ({ body, caller }) => {
    const { key, row } = await flow.issueKey(db, caller, keyInput(body));
    return { status: 201, body: { ...keyWire(row), key } };
  });

  route(app, deps, listKeys, async ({ query, caller }) => {
    const page = readPage(query);
    const { rows, total } = await store.listKeys(db, caller, page);
    return pageResponse('keys', rows.map(keyWire), { ...page, total });
  });

  route(app, deps, updateKey, async ({ params, body, caller }) => {
    const row = await flow.updateKey(db, caller, parseKeyId(params.apiKeyId), body);
    return { status: 200, body: keyWire(row) };
  });

  route(app, deps, revokeKey, async ({ params, caller }) => {
    const row = await flow.revokeKey(db, caller, parseKeyId(params.apiKeyId));
    return { status: 200, body: keyWire(row) };
  });

  route(app, deps, rotateKey, async ({ params, body, caller }) => {
    const { graceSeconds = 0 } = body;
    const { key, row } = await flow.rotateKey(
      db,
      caller,
      parseKeyId(params.apiKeyId),
      graceSeconds,
    );
    return { status: 201, body: { ...keyWire(row), key } };
  });
}

function keyInput(body: Body<typeof createKey>): flow.KeyInput {
  const { name, permissions, agentIds, rateLimits = {}, expiresAt, allowedOrigins = [] } = body;
  return {
    ...{ name, permissions, rateLimits, allowedOrigins },
    agentIds: agentIds?.map(parseAgentId) ?? null,
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

function parseAgentId(wireId: string): string {
  const id = fromId('agent', wireId);
  if (id === null) throw notFound('agent');
  return id;
}

function parseKeyId(wireId: string): string {
  const id = fromId('key', wireId);
  if (id === null) throw notFound('API key');
  return id;
}
