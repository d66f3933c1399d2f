import { type Static, Type } from 'typebox';
import { endStatuses, sources } from '../../core/execution/execution.ts';
import { executionErrorCodes } from '../../core/failure.ts';
import { costSources } from '../../core/model/model-port.ts';
import { SentFiles, SentMessages, sentFields, ToolCalls } from '../agents/prompt-content.ts';
import { id, nullable, oneOf, Pagination, reference, time } from '../shared.ts';
import { labels, recordedLabels } from './labels.ts';

export const ExecuteRequest = Type.Object(
  {
    variables: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Values by variable name, any JSON. Strings are inserted unchanged, other values as JSON. `null` counts as not supplied. Must contain every required variable.',
      examples: [{ topic: 'tides', audience: 'sailors' }],
    }),
    ...labels,
    rerunOf: Type.Optional(
      reference(
        'execution',
        'The execution of this agent that this one runs again, for its record.',
      ),
    ),
    stream: Type.Optional(
      Type.Boolean({
        description:
          "Whether the response of the model is read as a stream, so that readers see its text as it arrives. Default: the agent's `stream`; `true` with `Accept: text/event-stream`.",
      }),
    ),
    playground: Type.Optional(
      Type.Boolean({
        description:
          'Marks a playground execution: lists and statistics leave the execution out unless they are asked for it. Limits, quota and usage count it.',
      }),
    ),
  },
  { title: 'ExecuteRequest', additionalProperties: false },
);

export const ExecuteAccepted = Type.Object(
  {
    success: Type.Literal(true),
    executionId: id('execution', 'Identifier to poll with.'),
    agentId: id('agent', 'The agent.'),
    agentName: Type.String({ description: 'Display name of the agent.' }),
    status: Type.Literal('processing', {
      description: 'The status at acceptance, even in a replay.',
    }),
    currentStatus: Type.Optional(
      nullable(
        oneOf(['processing', ...endStatuses]),
        'Present only in a replay: the status now. `null` if the record is deleted.',
      ),
    ),
    message: Type.String(),
    statusUrl: Type.String({
      description: 'Relative URL: `/api/v1/agents/{agentId}/executions/{executionId}`.',
    }),
    ignoredVariables: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Variables that the agent does not declare. They are recorded but not used.',
      }),
    ),
  },
  { title: 'ExecuteAccepted' },
);
export type ExecuteAccepted = Static<typeof ExecuteAccepted>;

const figure = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));

/**
 * Absent while `processing`, present afterwards. `endedHas` declares this rule for validators.
 */
const figures = {
  latencyMs: figure(
    'Milliseconds from the first start to the end, including waits for retries and for the provider. 0 if nothing started.',
  ),
  tokensUsed: figure('Sum of input and output tokens. 0 if the model was never called.'),
  inputTokens: figure('Input tokens of all attempts, including cached ones.'),
  outputTokens: figure('Output tokens of all attempts.'),
  costUSD: Type.Optional(
    Type.Number({ minimum: 0, description: 'Sum of the known costs of all attempts.' }),
  ),
  costKnown: Type.Optional(
    Type.Boolean({
      description:
        '`false` if the price or the usage of an attempt is unknown; `costUSD` is then without it.',
    }),
  ),
  completedAt: Type.Optional(time('Time when it ended.')),
};

const fields = {
  executionId: id('execution', 'Identifier.'),
  agentId: id('agent', 'The executed agent.'),
  agentName: Type.String({ description: 'Name of the agent at the time of the call.' }),
  status: oneOf(['processing', ...endStatuses], 'Every status except `processing` is final.'),
  source: oneOf(
    sources,
    'Origin of the call: `api` for a key, `dashboard` for a session, `workflow` for a step.',
  ),
  playground: Type.Optional(
    Type.Literal(true, { description: 'A playground execution. Absent for any other.' }),
  ),
  executedAt: time('Time when the call was accepted or refused.'),
  executedBy: nullable(
    id('user'),
    'User of the session, or issuer of the key. `null` if no longer known.',
  ),
  apiKeyId: Type.Optional(
    id(
      'key',
      'API key of the call. Present only if the source is `api`; a workflow run names the key that started it.',
    ),
  ),
  workflowRunId: Type.Optional(id('workflowRun', 'Present only if the source is `workflow`.')),
  stepName: Type.Optional(
    Type.String({
      description: 'Workflow step of the execution. Present only if the source is `workflow`.',
    }),
  ),
  batchId: Type.Optional(id('batch', 'Present only if it is a line of a batch.')),
  ...recordedLabels,
  rerunOf: Type.Optional(
    id('execution', 'The execution that this one runs again. It may have been deleted.'),
  ),
  modelUsed: Type.String({
    description:
      'Format: `provider/model`. With fallback models the one whose answer was used, or that was called last.',
  }),
  temperature: Type.Optional(
    Type.Number({ description: 'As set. `settingsNotApplied` says whether the model took it.' }),
  ),
  promptVersionId: id('version', 'The pinned prompt version.'),
  promptVersionLabel: Type.String({ description: 'Label of the prompt version.' }),
  inputVariables: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Variables as sent by the caller.',
    }),
  ),
  queuedAt: Type.Optional(time('Time when it was queued. Absent for a refused call.')),
  startedAt: Type.Optional(
    time(
      'Time of the first start. Reset if the execution then waited for room at its provider before its first call.',
    ),
  ),
  attempts: Type.Integer({
    minimum: 0,
    description:
      'Number of attempts started. 0 if no model was called: the prompt is too long, or calls to the provider stayed paused.',
  }),
  ...figures,
  costSource: Type.Optional(
    oneOf(
      costSources,
      "Origin of the price of the last priced attempt: the workspace's own, the cost that the provider states (where the workspace has no price), or the built-in table. Absent if no call was charged.",
    ),
  ),
  firstTextMs: figure(
    'Milliseconds from the first start to the first text of the last attempt, if that was read as a stream.',
  ),
  reasoningTokens: figure('Output tokens spent on reasoning, if the provider reports them.'),
  modelAnswered: Type.Optional(
    Type.String({
      description:
        'Name of the model as the provider reports it. It may be more exact than `modelUsed`.',
    }),
  ),
  providerRequestId: Type.Optional(
    Type.String({
      description:
        "The provider's id of the last request: its header `x-request-id` or `request-id`, else the `id` in the body.",
    }),
  ),
  finishReason: Type.Optional(
    Type.String({
      description:
        'Reason why the model stopped: `stop`, `length` (cut off by `maxTokens`), `tool-calls` (then `outputText` is often empty), `content-filter` or `other`.',
    }),
  ),
  settingsNotApplied: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Settings that the model or provider rejected or ignored, such as `temperature`. Absent if all were applied.',
    }),
  ),
  toolCalls: Type.Optional(ToolCalls),
  refusalText: Type.Optional(
    Type.String({
      description:
        'What the model wrote when it refused, or before a filter stopped it (`CONTENT_FILTERED`).',
    }),
  ),
  outputText: Type.Optional(Type.String({ description: 'Present only on success.' })),
  outputJson: Type.Optional(
    Type.Unknown({
      description:
        'The JSON in the output. Present only on success of an agent with a `responseFormat`. Numbers are as the model wrote them.',
    }),
  ),
  error: Type.Optional(
    Type.String({ description: 'Present on every final status except `success`.' }),
  ),
  errorCode: Type.Optional(
    oneOf(executionErrorCodes, 'Present on every final status except `success`.'),
  ),
};

/** JSON Schema for: these figures are always present once the execution has ended. */
const endedHas = (required: readonly string[]) => ({
  if: { properties: { status: { const: 'processing' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, not a promise.
  then: { not: { anyOf: Object.keys(figures).map((field) => ({ required: [field] })) } },
  else: { required },
});

/** A record without prompts, IP address and user agent. Used in lists. */
export const Execution = Type.Object(fields, {
  title: 'Execution',
  ...endedHas(Object.keys(figures)),
});
export type Execution = Static<typeof Execution>;

const { costUSD: _usd, costKnown: _known, ...figuresOfAll } = figures;

const Attempt = Type.Object(
  {
    model: Type.String({ description: 'Format: `provider/model`.' }),
    errorCode: Type.Optional(oneOf(executionErrorCodes, 'Absent if it succeeded.')),
    inputTokens: Type.Integer({ minimum: 0 }),
    outputTokens: Type.Integer({ minimum: 0 }),
    costUSD: Type.Number({ minimum: 0 }),
    costKnown: Type.Boolean(),
    latencyMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Absent if its worker was lost, or it was aborted.',
      }),
    ),
  },
  { title: 'Attempt' },
);

/** The full record, the same object in every state. A key without `read` sees a part of it. */
export const ExecutionDetail = Type.Object(
  {
    ...fields,
    executedBy: Type.Optional(fields.executedBy),
    output: Type.Optional(Type.String({ description: 'Same text as `outputText`.' })),
    systemPrompt: Type.Optional(
      Type.String({
        description:
          'System messages as sent to the model, joined. Absent if canceled before work began.',
      }),
    ),
    userPrompt: Type.Optional(
      Type.String({ description: 'Last message of the user as sent to the model.' }),
    ),
    messages: Type.Optional(SentMessages),
    ...sentFields,
    files: Type.Optional(SentFiles),
    reasoningText: Type.Optional(
      Type.String({
        description:
          'Reasoning of the model, including `<think>` blocks, as far as the provider returns it.',
      }),
    ),
    attemptList: Type.Optional(
      Type.Array(Attempt, {
        description: 'The attempts, oldest first. Absent before the first one has ended.',
      }),
    ),
    workflowId: Type.Optional(
      id(
        'workflow',
        'Present only if the source is `workflow`, until the workflow run is deleted.',
      ),
    ),
    ipAddress: Type.Optional(Type.String({ description: 'IP address of the caller.' })),
    userAgent: Type.Optional(
      Type.String({ description: 'User agent of the caller: its first 500 characters.' }),
    ),
  },
  { title: 'ExecutionDetail', ...endedHas(Object.keys(figuresOfAll)) },
);
export type ExecutionDetail = Static<typeof ExecutionDetail>;

export const ExecutionList = Type.Object(
  {
    executions: Type.Array(Execution),
    pagination: Pagination,
    totalIsLowerBound: Type.Optional(
      Type.Literal(true, {
        description: '`total` is a lower bound, because counting everything would take too long.',
      }),
    ),
    nextCursor: Type.Optional(
      Type.String({ description: 'Value for `cursor`. Absent on the last page.' }),
    ),
    searchedTo: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'The page was not full after five seconds: older executions have not been searched. Continue with `nextCursor`.',
      }),
    ),
  },
  { title: 'ExecutionList' },
);
