import { type TSchema, Type } from 'typebox';
import { endStatuses, latencyMsMax, sources } from '../../core/execution/execution.ts';
import { metadataValueMax, sessionMax, tagMax, userMax } from '../../core/execution/labels.ts';
import { executionErrorCodes } from '../../core/failure.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { patterns } from '../patterns.ts';
import { LimitProblem, ListLimitProblem, problems, VariablesProblem } from '../problem.ts';
import { oneOf, pageQuery, query, reference, text, waitQuery } from '../shared.ts';
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
        'Makes retries safe: a request with the same key, variables, `user`, `session`, `tags` and `metadata` returns the first 202 again. Valid for 24 hours and at least until the execution ends.',
    }),
  ),
});

const execute = {
  method: 'POST',
  tag,
  headers: idempotency,
  body: ExecuteRequest,
  responses: {
    202: ExecuteAccepted,
    400: VariablesProblem,
    ...problems(401, 403, 404, 422),
    429: LimitProblem,
    ...problems(503),
  },
  responseHeaders: ['Location', 'RateLimit', 'Idempotent-Replayed'],
  streamed:
    'With `Accept: text/event-stream`: the event `accepted` with the object of the 202, then the events of the stream of the execution.',
} as const;

export const executeAgent = endpoint({
  ...execute,
  id: 'executeAgent',
  path: '/api/v1/agents/{agentId}/execute',
  summary: 'Execute an agent',
  description:
    'Accepts the call, responds immediately and calls the model afterwards. The 202 is sent only after the execution is durably recorded. Poll `statusUrl` for the result. Each accepted call uses one AI Action. After a 503 with code `OUTCOME_UNKNOWN` the call may have been accepted: retry with the same `Idempotency-Key`.',
  auth: 'execute',
  session: null,
});

export const executeAgentInDashboard = endpoint({
  ...execute,
  id: 'executeAgentInDashboard',
  path: '/api/agents/{agentId}/execute',
  summary: 'Execute an agent from a session',
  description:
    'Like the call with a key, with `source: "dashboard"`. Allowed in every stage, except for archived agents.',
  auth: 'session',
  session: 'execute',
});

export const getExecution = endpoint({
  id: 'getExecution',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/executions/{executionId}',
  summary: 'Get an execution',
  description:
    'Always 200 with the same object in every state; fields without a value yet are absent. While `processing`, `Retry-After` gives the polling interval. A key with `execute` but not `read` can access the executions it started, without prompts, variables, IP address, user agent, `executedBy`, `user`, `session`, `tags` and `metadata`, and without cost if the key has `allowedOrigins`.',
  tag,
  auth: 'read',
  unlimited: true,
  ownPermission: 'execute',
  query: waitQuery,
  responses: { 200: ExecutionDetail, ...problems(404) },
  responseHeaders: ['Retry-After'],
});

/** Query of a stream of server-sent events. */
export const streamQuery = {
  after: Type.Optional(
    Type.String({
      pattern: patterns.streamPosition.source,
      description:
        '`attempt.offset`: continues after so many UTF-16 units of the text of that attempt. The `id` of the last event.',
      examples: ['2.1834'],
    }),
  ),
  workspace: Type.Optional(
    reference(
      'workspace',
      'Same as the header `Cueline-Workspace`, for `EventSource`, which cannot send headers. Selects the workspace if the user belongs to several.',
    ),
  ),
};

export const streamHeaders = Type.Object({
  'Last-Event-ID': Type.Optional(
    Type.String({ description: 'Like `after`, over which it takes precedence.' }),
  ),
});

export const streamExecution = endpoint({
  id: 'streamExecution',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/executions/{executionId}/stream',
  summary: 'Stream an execution',
  description: `Server-sent events until the execution ends: \`status\` (the record while \`processing\`), \`text\` (\`{attempt, offset, text}\`; \`offset\` counts UTF-16 units), \`reasoning\` (likewise; requires \`read\`), \`tool\` (\`{attempt, id, name, arguments}\`), \`restart\` (\`{attempt}\`: the text so far is void), \`gone\` (\`{reason}\`: the text has been removed), \`end\` (the ended record). The texts of the last attempt, concatenated, are \`outputText\`. Resume with \`Last-Event-ID\` or \`after\`, in any process, also after the end. An execution that is not read as a stream delivers its text in one piece. At most ${limits.streamsMax} readers per process and ${limits.streamsOfCallerMax} per key or user (503 beyond). Access as for reading the execution.`,
  tag,
  auth: 'read',
  unlimited: true,
  ownPermission: 'execute',
  query: query(streamQuery),
  headers: streamHeaders,
  produces: ['text/event-stream'],
  responses: { 200: Type.String(), ...problems(400, 404, 503) },
});

export const cancelExecution = endpoint({
  id: 'cancelExecution',
  method: 'POST',
  path: '/api/v1/agents/{agentId}/executions/{executionId}/cancel',
  summary: 'Cancel an execution',
  description:
    'Ends it as `canceled` and aborts the model call. Returns 409 if it has already ended.',
  tag,
  auth: 'cancel',
  unlimited: true,
  responses: { 200: ExecutionDetail, ...problems(404, 409) },
});

/** Only bounded here. The handler parses the date and reports errors in plain words. */
const date = (description: string) =>
  Type.String({ maxLength: 40, description, examples: ['2026-11-21', '2026-11-21T09:30:00Z'] });

export const startDate = date(
  'ISO 8601, inclusive. A date without a time means the start of that day in UTC.',
);
export const endDate = date(
  'ISO 8601, inclusive. A date without a time means the end of that day in UTC.',
);

const money = (description: string) =>
  Type.String({ pattern: patterns.dollars.source, description, examples: ['0.05'] });
const milliseconds = (description: string) =>
  Type.Integer({ minimum: 0, maximum: latencyMsMax, description });

/** Filters of every history endpoint. */
const filters = {
  status: Type.Optional(oneOf(endStatuses, 'Only records with this status.')),
  source: Type.Optional(oneOf(sources, 'Only records from this source.')),
  startDate: Type.Optional(startDate),
  endDate: Type.Optional(endDate),
  promptVersionId: Type.Optional(reference('version', 'Only executions of this prompt version.')),
  model: Type.Optional(text(limits.modelMax, 'Only executions of this model, as in `modelUsed`.')),
  apiKeyId: Type.Optional(reference('key', 'Only calls with this API key.')),
  errorCode: Type.Optional(oneOf(executionErrorCodes, 'Only records with this error code.')),
  user: Type.Optional(
    Type.String({ maxLength: userMax, description: 'Only executions for this `user`.' }),
  ),
  session: Type.Optional(
    Type.String({ maxLength: sessionMax, description: 'Only executions of this `session`.' }),
  ),
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: tagMax, description: 'Only executions with this tag.' }),
  ),
  latencyMsMin: Type.Optional(milliseconds('Minimum latency.')),
  latencyMsMax: Type.Optional(milliseconds('Maximum latency.')),
  costUSDMin: Type.Optional(money('Minimum cost.')),
  costUSDMax: Type.Optional(money('Maximum cost.')),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.searchMax,
      description:
        'Only records whose output or variables contain all these words. `"…"` matches a phrase, `or` alternatives, `-` excludes. A term with punctuation, such as `A-1017` or `example.com`, is a phrase of its parts.',
    }),
  ),
};

/** A query with the history filters. The caller chooses the names of variable filters. */
export function historyQuery<P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(
    { ...properties, ...filters },
    {
      additionalProperties: false,
      patternProperties: {
        '^variables\\..': Type.String({ maxLength: limits.variableFilterMax }),
        '^metadata\\.': Type.String({ maxLength: metadataValueMax }),
      },
    },
  );
}

const list = {
  method: 'GET',
  tag,
  description: `Sorted newest first (\`executedAt\`, then identifier). Filters are combined with AND, including variable filters: \`variables.customer=acme\` matches records whose variable \`customer\` is \`acme\` (as JSON, unless it is a string), and \`metadata.plan=pro\` those whose metadata have that value. Executions in \`processing\` are listed only on request. Latency, cost, variables and \`q\` require reading each record (\`q\` searches its first ${limits.searchedCharactersMax} characters), newest first: where counting all would take too long, \`totalIsLowerBound\` is true; a page that is not full after five seconds is returned short, with \`searchedTo\`. A page of large records is streamed.`,
  auth: 'read',
  query: historyQuery({
    ...pageQuery,
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.cursorMax,
        description:
          '`nextCursor` of the previous page. Use it instead of `offset`: its cost does not grow with depth.',
      }),
    ),
    include: Type.Optional(oneOf(['processing'], 'Includes executions that have not ended.')),
    omit: Type.Optional(
      oneOf(['bodies'], 'Omits `inputVariables` and `outputText`. Use it for frequent polling.'),
    ),
  }),
  responses: { 200: ExecutionList, ...problems(400, 404), 429: ListLimitProblem },
  responseHeaders: ['RateLimit'],
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
  description: `Lists the executions of all agents that the caller can see. ${list.description}`,
  responses: { 200: ExecutionList, ...problems(400), 429: ListLimitProblem },
});
