import { exampleId } from '../../http/contract/shared.ts';

/**
 * Examples of executions, whose fields depend on the status, and of bodies without required fields. All others are sampled from
 * the schemas when the document is generated; their fields may have `examples`. A test validates each against its schema.
 */

const agentId = exampleId('agent');
const executionId = exampleId('execution');
const requestId = 'req_7f3k2m9q';

/** A record as returned in lists. */
const execution = {
  executionId,
  agentId,
  agentName: 'Explainer',
  status: 'success',
  source: 'api',
  executedAt: '2026-11-21T09:30:00.000Z',
  executedBy: exampleId('user'),
  apiKeyId: exampleId('key'),
  modelUsed: 'openai/gpt-5.5',
  temperature: 0.2,
  promptVersionId: exampleId('version'),
  promptVersionLabel: 'v2',
  inputVariables: { topic: 'tides', audience: 'sailors' },
  queuedAt: '2026-11-21T09:30:00.000Z',
  startedAt: '2026-11-21T09:30:00.012Z',
  completedAt: '2026-11-21T09:30:01.320Z',
  attempts: 1,
  latencyMs: 1308,
  tokensUsed: 212,
  inputTokens: 48,
  outputTokens: 164,
  costUSD: 0.00176,
  costKnown: true,
  finishReason: 'stop',
  outputText: 'Tides are the sea following the moon …',
};

const accepted = {
  success: true,
  executionId,
  agentId,
  agentName: 'Explainer',
  status: 'processing',
  message: 'Execution accepted.',
  statusUrl: `/api/v1/agents/${agentId}/executions/${executionId}`,
};

const missing = {
  error: 'Missing variables',
  message: 'Required variables are missing: audience.',
  code: 'MISSING_VARIABLES',
  requestId,
  missingVariables: ['audience'],
  requiredVariables: ['topic', 'audience'],
};

const limited = {
  error: 'Rate limit exceeded',
  message: 'Rate limit of the API key exceeded: 100 per minute.',
  code: 'RATE_LIMIT_EXCEEDED',
  requestId,
  rateLimits: { requestsPerMinute: 100, requestsPerHour: 5000, requestsPerDay: 100000 },
  retryAfter: 24,
  limitedBy: {
    scope: 'key',
    apiKeyId: 'key_01kqr6v1m8f4ra5gfzz3x2m3cd',
    window: 'minute',
    limit: 100,
    resetAt: '2026-11-21T09:31:00.000Z',
  },
};

const running = {
  executionId,
  agentId,
  agentName: execution.agentName,
  status: 'processing',
  source: execution.source,
  executedAt: execution.executedAt,
  executedBy: execution.executedBy,
  apiKeyId: execution.apiKeyId,
  modelUsed: execution.modelUsed,
  temperature: execution.temperature,
  promptVersionId: execution.promptVersionId,
  promptVersionLabel: execution.promptVersionLabel,
  inputVariables: execution.inputVariables,
  queuedAt: execution.queuedAt,
  attempts: 0,
};

const detail = {
  ...execution,
  output: execution.outputText,
  systemPrompt: 'You explain things in three sentences.',
  userPrompt: 'Explain tides to sailors.',
  ipAddress: '203.0.113.7',
  userAgent: 'curl/8.14.1',
};

type Examples = Readonly<Record<string, unknown>>;

/** Examples by name, per operation and per status (`body` for the request). */
export const examples: Readonly<Record<string, Readonly<Record<string | number, Examples>>>> = {
  executeAgent: { 202: { accepted }, 400: { missing }, 429: { limited } },
  getExecution: { 200: { success: detail, processing: running } },
  createPromptVersion: {
    body: {
      version: {
        label: 'v2',
        system: 'You explain things in three sentences.',
        user: 'Explain {{topic}} to {{audience}}.',
        model: 'openai/gpt-5.5',
        temperature: 0.2,
      },
    },
  },
  updatePrompt: { body: { rename: { name: 'Explainer for sailors' } } },
  updateAgent: { body: { repin: { promptVersionId: exampleId('version') } } },
  updateWorkflow: { body: { repin: { workflowVersionId: exampleId('workflowVersion') } } },
  createErasure: { body: { erasure: { variable: 'customer', value: 'c-1042' } } },
};

/** Records that no sample shows. */
export const records: Examples = { Execution: execution, ExecutionDetail: detail };
