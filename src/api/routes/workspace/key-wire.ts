import type { ApiKey } from '../../../contract/workspace/keys.ts';
import { keyLimits, peekWindows } from '../../../core/execution/limits.ts';
import { toId } from '../../../core/id.ts';
import type { KeyRow } from '../../../store/people/keys.ts';
import { limitWire } from './limit-wire.ts';

/** A key in API format, without its secret and hash. */
export function keyWire(row: KeyRow): ApiKey {
  const { requestsPerMinute, requestsPerHour, requestsPerDay } = row;
  return {
    apiKeyId: toId('key', row.id),
    name: row.name,
    start: row.start,
    agentIds: row.allAgents ? null : row.agentIds.map((id) => toId('agent', id)),
    permissions: row.permissions,
    rateLimits: { requestsPerMinute, requestsPerHour, requestsPerDay },
    rateLimitUsage: limitWire(peekWindows(row.counts, keyLimits(row), row.nowMs)),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    allowedOrigins: row.allowedOrigins,
    createdAt: row.createdAt.toISOString(),
    createdBy: row.issuedBy === null ? null : toId('user', row.issuedBy),
    parentApiKeyId: row.issuingKeys[0] === undefined ? null : toId('key', row.issuingKeys[0]),
  };
}
