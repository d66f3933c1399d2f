import { type TSchema, Type } from 'typebox';
import { endStatuses, latencyMsMax, sources } from '../../core/execution/execution.ts';
import { executionErrorCodes } from '../../core/failure.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { patterns } from '../patterns.ts';
import { LimitProblem, ListLimitProblem, problems, VariablesProblem } from '../problem.ts';
import { oneOf, pageQuery, reference, text, waitQuery } from '../shared.ts';
import {
  ExecuteAccepted,
  ExecuteRequest,
  ExecutionDetail,
  ExecutionList,
} from './execution-record.ts';

const tag = 'Executions';

export const idempotency = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.idempotencyKeyMax,
      pattern: '^[\\x20-\\x7e]+$',
      description:
        'Makes a retry safe: the same key and variables answer the first 202 again. Kept 24 hours and until the run ends.',
    }),
  ),
});

const execute = {
  method: 'POST',
  tag,
  headers: idempotency,
  body: ExecuteRequest,
  answers: {
    202: ExecuteAccepted,
    400: VariablesProblem,
    ...problems(401, 403, 404, 422),
    429: LimitProblem,
    ...problems(503),
  },
  sends: ['Location', 'RateLimit', 'Idempotent-Replayed'],
} as const;

export const executeAgent = endpoint({
  ...execute,
  id: 'executeAgent',
  path: '/api/v1/agents/{agentId}/execute',
  summary: 'Execute an agent',
  description:
    'Accepts the call, answers at once, and runs the model after. The 202 is sent only when the execution is durably recorded; poll `statusUrl` for the outcome. Each accepted call spends one AI Action. A 503 with code `OUTCOME_UNKNOWN` may have been accepted: retry it with the same `Idempotency-Key`.',
  auth: 'execute',
  session: null,
});

export const executeAgentInDashboard = endpoint({
  ...execute,
  id: 'executeAgentInDashboard',
  path: '/api/agents/{agentId}/execute',
  summary: 'Execute an agent from a session',
  description:
    'As with a key, with `source: "dashboard"`, and in every stage but for an archived agent.',
  auth: 'session',
  session: 'execute',
});

export const getExecution = endpoint({
  id: 'getExecution',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/executions/{executionId}',
  summary: 'Read the status of an execution',
  description:
    'Always 200 with the same object at every stage; what does not exist yet is absent. While `processing`, `Retry-After` says when to ask again. A key with `execute` but not `read` reaches the runs it started.',
  tag,
  auth: 'read',
  ownWith: 'execute',
  query: waitQuery,
  answers: { 200: ExecutionDetail, ...problems(404) },
  sends: ['Retry-After'],
});

export const cancelExecution = endpoint({
  id: 'cancelExecution',
  method: 'POST',
  path: '/api/v1/agents/{agentId}/executions/{executionId}/cancel',
  summary: 'Cancel an execution',
  description: 'Ends it as `canceled` and aborts the model call. 409 where it has already ended.',
  tag,
  auth: 'cancel',
  answers: { 200: ExecutionDetail, ...problems(404, 409) },
});

/** Only bounded here: whether a text is a date the handler says, with the words that help. */
const date = (description: string) =>
  Type.String({ maxLength: 40, description, examples: ['2026-11-21', '2026-11-21T09:30:00Z'] });

export const startDate = date(
  'ISO 8601, inclusive. A date alone means the start of that day, UTC.',
);
export const endDate = date('ISO 8601, inclusive. A date alone means the end of that day, UTC.');

const money = (description: string) =>
  Type.String({ pattern: patterns.dollars.source, description, examples: ['0.05'] });
const milliseconds = (description: string) =>
  Type.Integer({ minimum: 0, maximum: latencyMsMax, description });

/** What narrows a history down, wherever one is read. */
const filters = {
  status: Type.Optional(oneOf(endStatuses, 'Only records with this status.')),
  source: Type.Optional(oneOf(sources, 'Only records from this source.')),
  startDate: Type.Optional(startDate),
  endDate: Type.Optional(endDate),
  promptVersionId: Type.Optional(reference('version', 'Only runs of this prompt version.')),
  model: Type.Optional(text(limits.modelMax, 'Only runs of this model, as `modelUsed` names it.')),
  apiKeyId: Type.Optional(reference('key', 'Only calls with this API key.')),
  errorCode: Type.Optional(oneOf(executionErrorCodes, 'Only records with this error code.')),
  latencyMsMin: Type.Optional(milliseconds('Only records that took at least so long.')),
  latencyMsMax: Type.Optional(milliseconds('Only records that took at most so long.')),
  costUSDMin: Type.Optional(money('Only records that cost at least so much.')),
  costUSDMax: Type.Optional(money('Only records that cost at most so much.')),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.searchMax,
      description:
        'Only records whose output or variables hold all these words; `"…"` a phrase, `or`, `-` for without. What has punctuation in it, such as `A-1017` or `example.com`, is a phrase of its parts.',
    }),
  ),
};

/** A query with filters: those by variable have names of the caller's making. */
export function historyQuery<P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(
    { ...properties, ...filters },
    {
      additionalProperties: false,
      patternProperties: {
        '^variables\\..': Type.String({ maxLength: limits.variableFilterMax }),
      },
    },
  );
}

const list = {
  method: 'GET',
  tag,
  description: `Newest first (\`executedAt\`, then identifier). Filters combine, those of variables too: \`variables.customer=acme\` are the records whose variable \`customer\` is \`acme\` (JSON text for what is not a string). Runs that are still \`processing\` are left out unless asked for. Latency, cost, variables and \`q\` are found by reading: where the other filters leave more than ${limits.recordsReadMax} records (${limits.recordsSearchedMax} with \`q\`, which looks into the first ${limits.searchedCharactersMax} characters of each), or such that reading them takes too long, the answer is 400. A page of long records is streamed.`,
  auth: 'read',
  query: historyQuery({
    ...pageQuery,
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.cursorMax,
        description:
          'The `nextCursor` of the page before, instead of `offset`: cheap at any depth.',
      }),
    ),
    include: Type.Optional(oneOf(['processing'], 'Adds the runs that have not ended yet.')),
    omit: Type.Optional(
      oneOf(
        ['bodies'],
        'Leaves `inputVariables` and `outputText` out of every record: cheap to ask for again and again, however long they are.',
      ),
    ),
  }),
  answers: { 200: ExecutionList, ...problems(400, 404), 429: ListLimitProblem },
  sends: ['RateLimit'],
} as const;

export const listExecutions = endpoint({
  ...list,
  id: 'listExecutions',
  path: '/api/v1/agents/{agentId}/executions',
  summary: "List an agent's executions",
});

export const listExecutionsUnversioned = endpoint({
  ...list,
  id: 'listExecutionsUnversioned',
  path: '/api/agents/{agentId}/executions',
  summary: "List an agent's executions (path without version)",
});

export const listAllExecutions = endpoint({
  ...list,
  id: 'listAllExecutions',
  path: '/api/v1/executions',
  summary: 'List the executions of all agents',
  description: `Of all agents that the caller sees, as for one. ${list.description}`,
  answers: { 200: ExecutionList, ...problems(400), 429: ListLimitProblem },
});
