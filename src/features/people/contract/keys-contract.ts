import { type Static, Type } from 'typebox';
import { permissions } from '../../../core/people/key.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { problems } from '../../../http/contract/problem.ts';
import {
  body,
  graceSeconds,
  id,
  name,
  nullable,
  Origins,
  oneOf,
  ownId,
  page,
  pageQuery,
  query,
  RateLimits,
  RateLimitsInput,
  RateLimitUsage,
  reference,
  time,
} from '../../../http/contract/shared.ts';

const tag = 'Keys';
const managed = { tag, auth: 'manage' } as const;

const Permissions = Type.Array(oneOf(permissions), {
  minItems: 1,
  uniqueItems: true,
  description: 'Permissions of the key, limited to those its issuer currently has.',
});

const agents = (of: ReturnType<typeof id>) =>
  nullable(
    Type.Array(of, { minItems: 1, maxItems: limits.agentsPerKeyMax, uniqueItems: true }),
    'Agents that the key can access. `null`: the whole workspace.',
  );

const keyFields = {
  apiKeyId: ownId('key', 'Identifier, not the secret.'),
  name: Type.String(),
  start: Type.String({ description: 'First characters of the secret, to distinguish keys.' }),
  agentIds: agents(id('agent')),
  permissions: Permissions,
  rateLimits: RateLimits,
  rateLimitUsage: RateLimitUsage,
  expiresAt: nullable(time('Expiry time. `null`: never.')),
  revokedAt: nullable(time('Time when it was revoked.')),
  lastUsedAt: nullable(time('Time of the last use, accurate to about a minute.')),
  allowedOrigins: Origins,
  createdAt: time('Time of issue.'),
  createdBy: nullable(id('user', 'Issuer. `null` if the account no longer exists.')),
  parentApiKeyId: nullable(
    id('key', 'Key that issued it and whose limits also apply. `null`: issued by a person.'),
  ),
};

export const ApiKey = Type.Object(keyFields, { title: 'ApiKey' });
export type ApiKey = Static<typeof ApiKey>;

export const IssuedApiKey = Type.Object(
  {
    ...keyFields,
    key: Type.String({
      pattern: '^cue_[0-9A-Za-z]{36}$',
      description: 'The secret. Shown once.',
      examples: ['cue_0f8GdRrVxN3yqLZ2mB7KcT5wPjHsUa1nQeZk'],
    }),
  },
  { title: 'IssuedApiKey' },
);
export type IssuedApiKey = Static<typeof IssuedApiKey>;

export const createKey = endpoint({
  ...managed,
  id: 'createKey',
  method: 'POST',
  path: '/api/v1/keys',
  summary: 'Issue an API key',
  description:
    'The key cannot have more rights than its issuer. A key that another key issues also counts for the limits of that key, and ends with it. Returns 403 with the first right that the issuer lacks, and 404 for an agent that the issuer cannot access. A key may issue keys ten levels deep. Default limits: 100 per minute, 5,000 per hour, 100,000 per day.',
  body: body('ApiKeyInput', {
    name: name('Display name.'),
    agentIds: agents(reference('agent')),
    permissions: Permissions,
    rateLimits: Type.Optional(RateLimitsInput),
    expiresAt: Type.Optional(
      nullable(
        Type.String({ maxLength: 40, examples: ['2027-01-01T00:00:00Z'] }),
        'ISO 8601, in the future. `null` or omitted: never.',
      ),
    ),
    allowedOrigins: Type.Optional(Origins),
  }),
  responses: { 201: IssuedApiKey, ...problems(404) },
});

export const listKeys = endpoint({
  id: 'listKeys',
  method: 'GET',
  path: '/api/v1/keys',
  summary: 'List API keys',
  description:
    'Sorted newest first, including revoked and expired keys. Omits the secrets. Contains the keys that the caller issued, those of the whole workspace, and those whose agents the caller all sees; for a key with agents, only those within its own.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query({
    ...pageQuery,
    revoked: Type.Optional(
      Type.Boolean({
        description: '`true`: only revoked keys, `false`: all others. Default: both.',
      }),
    ),
  }),
  responses: { 200: page('ApiKeyList', 'keys', ApiKey) },
});

export const updateKey = endpoint({
  ...managed,
  id: 'updateKey',
  method: 'PATCH',
  path: '/api/v1/keys/{apiKeyId}',
  summary: 'Update an API key',
  description:
    'Changes the name and the rate limits, from the next call on; a missing window stays. Limits cannot exceed those of the caller. Agents and permissions of a key do not change. Only an owner may change a key that an owner issued for the whole workspace. Returns 409 if the key has expired or been revoked.',
  body: body('ApiKeyPatch', {
    name: Type.Optional(name('Display name.')),
    rateLimits: Type.Optional(RateLimitsInput),
  }),
  responses: { 200: ApiKey, ...problems(404, 409) },
});

export const revokeKey = endpoint({
  ...managed,
  id: 'revokeKey',
  method: 'POST',
  path: '/api/v1/keys/{apiKeyId}/revoke',
  summary: 'Revoke an API key',
  description:
    'Takes effect immediately and permanently, including for the keys that it issued. Only an owner may revoke a key that an owner issued for the whole workspace. Idempotent.',
  responses: { 200: ApiKey, ...problems(404) },
});

export const rotateKey = endpoint({
  ...managed,
  id: 'rotateKey',
  method: 'POST',
  path: '/api/v1/keys/{apiKeyId}/rotate',
  summary: 'Replace an API key',
  description:
    'Issues a key with the same name, agents, permissions, limits, origins and expiry, with the caller as its issuer. Both share their windows. The old key expires after the grace period, and with it the keys that it issued. An old key in its own grace period passes its end on. Rotated by another key, the new key counts as issued by that key. Only an owner may rotate a key that an owner issued for the whole workspace. Returns 409 if it has already expired or been revoked.',
  body: body('RotateRequest', {
    graceSeconds: graceSeconds('Seconds for which the old key stays valid.'),
  }),
  bodyOptional: true,
  responses: { 201: IssuedApiKey, ...problems(404, 409) },
});
