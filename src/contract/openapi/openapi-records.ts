import { exampleId } from '../shared.ts';
import { execution } from './openapi-examples.ts';

/**
 * One example per record type, shown wherever the document uses it. A test validates each against
 * its schema.
 */

const at = '2026-11-21T09:30:00.000Z';
const by = exampleId('user');
const promptId = exampleId('prompt');
const promptVersionId = exampleId('version');

const rateLimits = { requestsPerMinute: 100, requestsPerHour: 5000, requestsPerDay: null };

const agent = {
  agentId: exampleId('agent'),
  agentName: 'Explainer',
  slug: 'explainer',
  aliases: ['pmpt_68a1f0c2b7d4'],
  promptId,
  promptVersionId,
  promptVersionLabel: 'v2',
  agentConfig: { model: 'openai/gpt-5.5', temperature: 0.2, maxAttempts: 3 },
  requiredVariables: ['topic'],
  optionalVariables: [],
  defaultVariableValues: { audience: 'everyone' },
  apiEnabled: true,
  visibility: 'public',
  rateLimits,
  status: 'Deployed',
  archived: false,
  allowedActions: ['rollback', 'disable'],
  project: 'Website',
  category: null,
  tags: ['docs'],
  description: 'Explains a topic to an audience.',
  allowedOrigins: ['https://app.example.com'],
  retention: { recordsDays: null, bodiesDays: 7 },
  storeBodies: true,
  allowInstructions: false,
  allowTools: false,
  versionAliases: { 1: 'v2' },
  createdAt: at,
  updatedAt: at,
  createdBy: by,
};

const versionSummary = {
  promptVersionId,
  promptVersionLabel: 'v2',
  number: 2,
  promptId,
  variables: ['topic', 'audience'],
  model: 'openai/gpt-5.5',
  temperature: 0.2,
  maxTokens: null,
  topP: null,
  notes: 'Shorter answers.',
  createdAt: at,
  createdBy: by,
};

const window = {
  window: 'minute',
  limit: 100,
  used: 12,
  remaining: 88,
  resetAt: '2026-11-21T09:31:00.000Z',
};

const key = {
  apiKeyId: exampleId('key'),
  name: 'Website',
  start: 'cue_0f8GdR',
  agentIds: [agent.agentId],
  permissions: ['execute', 'read'],
  rateLimits,
  rateLimitUsage: [{ scope: 'key', ...window }],
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: at,
  allowedOrigins: [],
  createdAt: at,
  createdBy: by,
  parentApiKeyId: null,
};

const invitation = {
  invitationId: exampleId('invitation'),
  email: 'sam@example.com',
  role: 'editor',
  createdAt: at,
  createdBy: by,
  expiresAt: '2026-11-28T09:30:00.000Z',
};

export const records: Readonly<Record<string, unknown>> = {
  Retention: { recordsDays: 90, bodiesDays: 30 },
  Erasure: {
    erasureId: exampleId('erasure'),
    schedules: [exampleId('schedule')],
    status: 'processing',
    agentId: null,
    by: 'variable',
    variable: 'customer',
    metadata: null,
    deleted: 118,
    waiting: 1,
    requestedAt: at,
    requestedBy: by,
    completedAt: null,
  },
  AuditLine: {
    auditId: exampleId('audit'),
    at,
    action: 'retention.change',
    subject: exampleId('workspace'),
    userId: by,
    apiKeyId: null,
    via: null,
    details: {
      from: { recordsDays: 90, bodiesDays: null },
      to: { recordsDays: 90, bodiesDays: 30 },
    },
  },
  Execution: execution,
  Agent: agent,
  Pin: {
    pinId: exampleId('pin'),
    promptVersionId,
    promptVersionLabel: 'v2',
    number: 2,
    pinnedAt: at,
    pinnedBy: by,
  },
  Prompt: {
    promptId,
    name: 'Explainer',
    description: null,
    visibility: 'private',
    versionCount: 2,
    latestVersion: versionSummary,
    archived: false,
    createdAt: at,
    updatedAt: at,
    createdBy: by,
  },
  PromptVersionSummary: versionSummary,
  PromptVersion: {
    ...versionSummary,
    system: 'You explain things in three sentences.',
    user: 'Explain {{topic}} to {{audience}}.',
    responseFormat: null,
    variableSchemas: {},
    warnings: [],
  },
  ApiKey: key,
  IssuedApiKey: { ...key, lastUsedAt: null, key: 'cue_0f8GdRrVxN3yqLZ2mB7KcT5wPjHsUa1nQeZk' },
  Usage: {
    month: '2026-11',
    plan: 'Team',
    actionsUsed: 1204,
    actionsPerMonth: 10000,
    actionsRemaining: 8796,
    resetAt: '2026-12-01T00:00:00.000Z',
  },
  Plan: { name: 'Team', actionsPerMonth: 10000 },
  Provider: {
    name: 'openai',
    kind: 'openai',
    baseURL: null,
    hasApiKey: true,
    headerNames: [],
    queryNames: [],
    bodyExtraNames: [],
    organization: null,
    project: null,
    auth: null,
    createdAt: at,
    updatedAt: at,
  },
  Price: {
    model: 'own/llama',
    inputPerMillion: '0.20',
    outputPerMillion: '0.60',
    cacheReadPerMillion: null,
    cacheWritePerMillion: null,
    updatedAt: at,
  },
  Member: { userId: by, email: 'kim@example.com', name: 'Kim', role: 'owner', joinedAt: at },
  Invitation: invitation,
  IssuedInvitation: {
    ...invitation,
    url: 'https://cueline.example.com/invitation#…',
    emailed: true,
  },
  User: { userId: by, email: 'kim@example.com', name: 'Kim' },
  Membership: { workspaceId: exampleId('workspace'), name: 'Home', role: 'owner' },
  Bucket: {
    start: '2026-11-21T00:00:00.000Z',
    end: '2026-11-21T23:59:59.999Z',
    status: 'success',
    source: 'api',
    count: 310,
    recorded: 310,
    successRate: 1,
    inputTokens: 14880,
    outputTokens: 50840,
    costUSD: 0.5456,
    costUnknown: 0,
    latencyMs: { p50: 1240, p95: 2480, p99: 4160 },
  },
  Pagination: { limit: 20, offset: 0, total: 1, hasMore: false },
};
