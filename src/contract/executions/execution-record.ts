import { type Static, Type } from 'typebox';
import { endStatuses, sources } from '../../core/execution/execution.ts';
import { executionErrorCodes } from '../../core/failure.ts';
import { id, nullable, oneOf, Pagination, time } from '../shared.ts';

export const ExecuteRequest = Type.Object(
  {
    variables: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Variable name to value, any JSON. Strings stand as they are, anything else as its JSON text; `null` counts as not supplied. Must cover every required variable.',
      examples: [{ topic: 'tides', audience: 'sailors' }],
    }),
  },
  { title: 'ExecuteRequest', additionalProperties: false },
);

export const ExecuteAccepted = Type.Object(
  {
    success: Type.Literal(true),
    executionId: id('execution', 'What to poll with.'),
    agentId: id('agent', 'The agent.'),
    agentName: Type.String(),
    status: Type.Literal('processing'),
    message: Type.String({ description: 'For people.' }),
    statusUrl: Type.String({
      description: 'Relative: `/api/v1/agents/{agentId}/executions/{executionId}`.',
    }),
    ignoredVariables: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Names the agent does not declare: recorded, but not used.',
      }),
    ),
  },
  { title: 'ExecuteAccepted' },
);
export type ExecuteAccepted = Static<typeof ExecuteAccepted>;

const figure = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));

/** Absent while `processing`, always there after; the rule below says so to validators. */
const figures = {
  latencyMs: figure('Milliseconds from the first start of work to the end.'),
  tokensUsed: figure('Input and output together; 0 where the model never ran.'),
  inputTokens: figure('Cached ones included.'),
  outputTokens: figure('What the model wrote.'),
  costUSD: Type.Optional(Type.Number({ minimum: 0, description: '0 where it is not known.' })),
  costKnown: Type.Optional(
    Type.Boolean({ description: 'False where no price or no usage is known: 0 is then a gap.' }),
  ),
  completedAt: Type.Optional(time('When it ended.')),
};

const fields = {
  executionId: id('execution', 'Identifier.'),
  agentId: id('agent', 'The agent that was executed.'),
  agentName: Type.String({ description: 'Its name when the call came.' }),
  status: oneOf(['processing', ...endStatuses], 'All but `processing` are final.'),
  source: oneOf(sources, 'Where the call came from.'),
  executedAt: time('When the call was accepted or refused.'),
  executedBy: nullable(
    id('user'),
    "The session's user or the key's issuer; `null` where that is not known any more.",
  ),
  apiKeyId: Type.Optional(id('key', 'The key of the call. Only when the source is `api`.')),
  workflowRunId: Type.Optional(id('workflowRun', 'Only when the source is `workflow`.')),
  stepName: Type.Optional(
    Type.String({
      description: 'The step that it was the call of. Only when the source is `workflow`.',
    }),
  ),
  modelUsed: Type.String({ description: 'As `provider/model`.' }),
  temperature: Type.Optional(Type.Number()),
  promptVersionId: id('version', 'The version that was pinned.'),
  promptVersionLabel: Type.String({ description: 'Its label.' }),
  inputVariables: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'The variables as sent.',
    }),
  ),
  queuedAt: Type.Optional(time('When it was queued; absent for a refused call.')),
  startedAt: Type.Optional(time('When work first began.')),
  attempts: Type.Integer({ minimum: 0, description: 'Model calls begun.' }),
  ...figures,
  finishReason: Type.Optional(Type.String({ description: 'Why the model stopped.' })),
  outputText: Type.Optional(Type.String({ description: 'Only when successful.' })),
  error: Type.Optional(Type.String({ description: 'On every end but `success`.' })),
  errorCode: Type.Optional(oneOf(executionErrorCodes, 'On every end but `success`.')),
};

/** JSON Schema's way to say "always, once it has ended". */
const endedHasFigures = {
  if: { properties: { status: { const: 'processing' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, not a promise.
  then: { not: { anyOf: Object.keys(figures).map((field) => ({ required: [field] })) } },
  else: { required: Object.keys(figures) },
};

/** One record as lists hold it: without prompts, address and client. */
export const Execution = Type.Object(fields, { title: 'Execution', ...endedHasFigures });
export type Execution = Static<typeof Execution>;

/** The full record, the same object at every stage. */
export const ExecutionDetail = Type.Object(
  {
    ...fields,
    output: Type.Optional(Type.String({ description: 'The same text as `outputText`.' })),
    systemPrompt: Type.Optional(Type.String({ description: 'As sent to the model.' })),
    userPrompt: Type.Optional(Type.String({ description: 'As sent to the model.' })),
    workflowId: Type.Optional(
      id('workflow', 'Only when the source is `workflow`, for as long as its run is kept.'),
    ),
    ipAddress: Type.Optional(Type.String({ description: 'Of the caller.' })),
    userAgent: Type.Optional(Type.String({ description: 'Of the caller.' })),
  },
  { title: 'ExecutionDetail', ...endedHasFigures },
);
export type ExecutionDetail = Static<typeof ExecutionDetail>;

export const ExecutionList = Type.Object(
  {
    executions: Type.Array(Execution),
    pagination: Pagination,
    nextCursor: Type.Optional(
      Type.String({ description: 'For `cursor`; absent on the last page.' }),
    ),
  },
  { title: 'ExecutionList' },
);
