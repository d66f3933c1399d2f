import { type TSchema, Type } from 'typebox';
import { endStatuses, latencyMsMax, sources } from '../../../core/execution/execution.ts';
import { executionErrorCodes } from '../../../core/failure.ts';
import { sortedMax, sorts } from '../../../core/history/sort-order.ts';
import { metadataValueMax, sessionMax, tagMax, userMax } from '../../../core/labels.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { endDate, startDate } from '../../../http/contract/period.ts';
import {
  LimitProblem,
  ListLimitProblem,
  problems,
  VariablesProblem,
} from '../../../http/contract/problem.ts';
import {
  listOf,
  oneOf,
  pageQuery,
  query,
  reference,
  text,
  waitQuery,
} from '../../../http/contract/shared.ts';
import {
  ExecuteAccepted,
  ExecuteRequest,
  ExecutionDetail,
  ExecutionList,
} from './execution-record.ts';

const tag = 'Executions';

/** The header that makes a retry of a call safe. */
export const idempotencyHeader = (description: string) =>
  Type.Object({
    'Idempotency-Key': Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.idempotencyKeyMax,
        pattern: '^[\\x20-\\x7e]+$',
        description,
      }),
    ),
  });

export const idempotency = idempotencyHeader(
  'Makes retries safe: a request with the same key, variables, `user`, `session`, `tags`, `metadata`, `playground` and `draft` returns the first 202 again. Valid for 24 hours and at least until the execution ends.',
);

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
  description: `Server-sent events until the execution ends: \`status\` (the record while \`processing\`), \`text\` (\`{attempt, offset, text}\`; \`offset\` counts UTF-16 units, and \`turn\` is added if tools are executed), \`reasoning\` (likewise; requires \`read\`), \`tool\` (\`{attempt, id, name, arguments}\`), \`restart\` (\`{attempt}\`: the text so far is void, because another attempt or turn begins), \`gone\` (\`{reason}\`: the text has been removed), \`end\` (the ended record). The texts of the last attempt, concatenated, are \`outputText\`. Resume with \`Last-Event-ID\` or \`after\`, in any process, also after the end. An execution that is not read as a stream delivers its text in one piece. At most ${limits.streamsMax} readers per process, shared between workspaces (503 beyond). Access as for reading the execution.`,
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
    'Ends it as `canceled`, waiting or running, and aborts the model call. Returns the record, or 409 if it has already ended. The cost of an aborted call is unknown. A key without `read` sees what getExecution shows it, and no output of another key.',
  tag,
  auth: 'cancel',
  unlimited: true,
  responses: { 200: ExecutionDetail, ...problems(404, 409) },
});

const money = (description: string) =>
  Type.String({ pattern: patterns.dollars.source, description, examples: ['0.05'] });
const milliseconds = (description: string) =>
  Type.Integer({ minimum: 0, maximum: latencyMsMax, description });

const several = <S extends TSchema>(items: S, description: string) =>
  listOf(items, limits.filterValuesMax, description);

/** `true`, `false` or both. */
export const playgroundFilter = (description: string) =>
  Type.Optional(
    listOf(
      oneOf(['true', 'false']),
      2,
      `${description} \`true,false\`: with and without the mark.`,
    ),
  );

/** Filters of every history endpoint. */
const filters = {
  status: Type.Optional(
    several(
      oneOf([...endStatuses, 'processing']),
      'Only records with one of these statuses. `processing` requires `include=processing`, which only lists take.',
    ),
  ),
  source: Type.Optional(several(oneOf(sources), 'Only records from these sources.')),
  playground: playgroundFilter(
    'Whether to list executions marked `playground`. Default: `false`, or both if `executionId` or `rerunOf` is given.',
  ),
  startDate: Type.Optional(startDate),
  endDate: Type.Optional(endDate),
  promptVersionId: Type.Optional(
    several(reference('version'), 'Only executions of these prompt versions.'),
  ),
  model: Type.Optional(
    several(text(limits.modelMax), 'Only executions of these models, as in `modelUsed`.'),
  ),
  apiKeyId: Type.Optional(
    several(
      reference('key'),
      'Only calls with these API keys, and steps of workflow runs started with them.',
    ),
  ),
  errorCode: Type.Optional(
    several(oneOf(executionErrorCodes), 'Only records with one of these error codes.'),
  ),
  user: Type.Optional(several(text(userMax), 'Only executions for these `user`s.')),
  session: Type.Optional(
    Type.String({ maxLength: sessionMax, description: 'Only executions of this `session`.' }),
  ),
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: tagMax, description: 'Only executions with this tag.' }),
  ),
  executionId: Type.Optional(
    listOf(reference('execution'), limits.executionIdsMax, 'Only these executions.'),
  ),
  batchId: Type.Optional(reference('batch', 'Only executions of this batch.')),
  rerunOf: Type.Optional(
    reference('execution', 'Only executions that run this one again (`rerunOf`).'),
  ),
  providerRequestId: Type.Optional(
    text(limits.searchMax, 'Only records with this `providerRequestId`.'),
  ),
  latencyMsMin: Type.Optional(milliseconds('Minimum latency, inclusive.')),
  latencyMsMax: Type.Optional(milliseconds('Maximum latency, inclusive.')),
  costUSDMin: Type.Optional(money('Minimum cost, inclusive.')),
  costUSDMax: Type.Optional(money('Maximum cost, inclusive.')),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.searchMax,
      description:
        'Only records whose output or variables (values and names) contain all these words. `"…"` matches a phrase, `or` alternatives, `-` excludes. Case does not matter. Blanks, punctuation and symbols separate words, here and in the text, and words match whole: `A-1017` is the phrase `"A 1017"`, `example` finds `user@example.com`. Emoji and text in Chinese, Japanese, Korean, Thai, Lao, Tibetan, Burmese or Khmer also match inside other text. Composed and decomposed accents are equal; other variants (half and full width, `ß` and `ss`) are not. Without a word it matches nothing.',
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

const listParameters = {
  ...pageQuery,
  sort: Type.Optional(
    oneOf(
      sorts,
      `The order; \`-\` for descending. Default: \`-executedAt\`. Equal values are in the order of their identifiers. Without filters on contents (latency, cost, \`providerRequestId\`, variables, further labels, \`q\`), time sorts all matches. Every other order sorts the newest ${sortedMax} matches, or as many as five seconds allow: if there are more, \`sortedOver\` says how many. Executions that have not ended come last.`,
    ),
  ),
  totals: Type.Optional(Type.Boolean({ description: 'Adds `totals`: the sums over all matches.' })),
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
  preview: Type.Optional(
    Type.Boolean({ description: 'With `omit=bodies`: adds `outputPreview`.' }),
  ),
};

/** Of the lists and exports of all agents. */
export const agentFilter = Type.Optional(
  several(
    reference('agent'),
    'Only executions of these agents. Agents that the caller cannot see contribute nothing.',
  ),
);

const list = {
  method: 'GET',
  tag,
  description: `Sorted newest first (\`executedAt\`, then identifier), or by \`sort\`. Filters are combined with AND, and several values of a filter, separated by commas, with OR. Within a value, write \`\\,\` for a comma and \`\\\\\` for a backslash. A single value that contains a comma also matches as it is. Variable filters: \`variables.customer=acme\` matches records whose variable \`customer\` is \`acme\` (as JSON, unless it is a string; at most ${limits.variableFiltersMax} of these), and \`metadata.plan=pro\` those whose metadata have that value. Executions in \`processing\` are listed only on request. Latency, cost, \`providerRequestId\`, variables and \`q\` require reading each record (\`q\` searches its first ${limits.searchedCharactersMax} characters), newest first: where counting all would take too long, \`totalIsLowerBound\` is true; a page that is not full after five seconds is returned short, with \`searchedTo\`. A page of large records is streamed.`,
  auth: 'read',
  query: historyQuery(listParameters),
  responses: { 200: ExecutionList, ...problems(400, 404), 429: ListLimitProblem },
  responseHeaders: ['RateLimit', 'Cueline-Data-As-Of'],
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
  query: historyQuery({ agentId: agentFilter, ...listParameters }),
  responses: { 200: ExecutionList, ...problems(400), 429: ListLimitProblem },
});
