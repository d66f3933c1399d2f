import { type Static, Type } from 'typebox';
import { permissions } from '../../core/people/key.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { problems } from '../problem.ts';
import {
  body,
  id,
  name,
  nullable,
  Origins,
  oneOf,
  page,
  pageQuery,
  query,
  RateLimits,
  RateLimitsInput,
  RateLimitUsage,
  reference,
  time,
} from '../shared.ts';

const tag = 'Keys';

const Permissions = Type.Array(oneOf(permissions), {
  minItems: 1,
  uniqueItems: true,
  description: 'What the key may do, as far as its issuer still may.',
});

const agents = (of: ReturnType<typeof id>) =>
  nullable(
    Type.Array(of, { minItems: 1, maxItems: limits.agentsPerKeyMax, uniqueItems: true }),
    'The agents it is tied to; `null` is the whole workspace.',
  );

const keyFields = {
  apiKeyId: id('key', 'Identifier; not the secret.'),
  name: Type.String(),
  start: Type.String({ description: 'How the secret begins, to tell one key from another.' }),
  agentIds: agents(id('agent')),
  permissions: Permissions,
  rateLimits: RateLimits,
  rateLimitUsage: RateLimitUsage,
  expiresAt: nullable(time('When it stops; `null` is never.')),
  revokedAt: nullable(time('When it was revoked.')),
  lastUsedAt: nullable(time('When it was last used, to within a minute or so.')),
  allowedOrigins: Origins,
  createdAt: time('When it was issued.'),
  createdBy: nullable(id('user', 'Its issuer; `null` where that account is gone.')),
};

export const ApiKey = Type.Object(keyFields, { title: 'ApiKey' });
export type ApiKey = Static<typeof ApiKey>;

export const IssuedApiKey = Type.Object(
  {
    ...keyFields,
    key: Type.String({
      pattern: '^cue_[0-9A-Za-z]{36}$',
      description: 'The secret. Shown this once.',
      examples: ['cue_0f8GdRrVxN3yqLZ2mB7KcT5wPjHsUa1nQeZk'],
    }),
  },
  { title: 'IssuedApiKey' },
);
export type IssuedApiKey = Static<typeof IssuedApiKey>;

export const createKey = endpoint({
  id: 'createKey',
  method: 'POST',
  path: '/api/v1/keys',
  summary: 'Issue an API key',
  description:
    'None wider than its issuer. Limits left out default to 100 a minute, 5,000 an hour, 100,000 a day.',
  tag,
  auth: 'manage',
  body: body('ApiKeyInput', {
    name: name('For people.'),
    agentIds: agents(reference('agent')),
    permissions: Permissions,
    rateLimits: Type.Optional(RateLimitsInput),
    expiresAt: Type.Optional(
      nullable(
        Type.String({ maxLength: 40, examples: ['2027-01-01T00:00:00Z'] }),
        'ISO 8601, in the future; `null` or left out is never.',
      ),
    ),
    allowedOrigins: Type.Optional(Origins),
  }),
  answers: { 201: IssuedApiKey, ...problems(404) },
});

export const listKeys = endpoint({
  id: 'listKeys',
  method: 'GET',
  path: '/api/v1/keys',
  summary: 'List API keys',
  description: 'Newest first, revoked and expired ones included; never the secrets.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query(pageQuery),
  answers: { 200: page('ApiKeyList', 'keys', ApiKey) },
});

export const revokeKey = endpoint({
  id: 'revokeKey',
  method: 'POST',
  path: '/api/v1/keys/{apiKeyId}/revoke',
  summary: 'Revoke an API key',
  description: 'At once and for good. Revoking twice is the same as once.',
  tag,
  auth: 'manage',
  answers: { 200: ApiKey, ...problems(404) },
});

export const rotateKey = endpoint({
  id: 'rotateKey',
  method: 'POST',
  path: '/api/v1/keys/{apiKeyId}/rotate',
  summary: 'Replace an API key',
  description:
    'Issues a key with the same name, agents, permissions and limits. The old one stops when the grace is over. 409 where it has stopped already.',
  tag,
  auth: 'manage',
  body: body('RotateRequest', {
    graceSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limits.graceSecondsMax,
        default: 0,
        description: 'How long the old key still works.',
      }),
    ),
  }),
  bodyOptional: true,
  answers: { 201: IssuedApiKey, ...problems(404, 409) },
});
