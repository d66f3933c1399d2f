import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { stages } from '../../../core/agent/agent.ts';
import { disabledReasons } from '../../../core/event/endpoint.ts';
import type { EventType } from '../../../core/event/event.ts';
import { executionErrorCodes } from '../../../core/failure.ts';
import { id, nullable, oneOf, time } from '../../../http/contract/shared.ts';
import { BatchCounts } from '../../batches/batches-contract.ts';
import { alertMetrics } from '../rules/alert.ts';

/** What endpoints receive: a schema per event type. */

const sequence = Type.Integer({
  minimum: 1,
  description: 'Increases with each event of the workspace, and so with each event of one subject.',
});

/** Who it was for. `null` if the caller did not send it, or once the user was erased. */
const labels = {
  user: nullable(Type.String(), 'The end user.'),
  session: nullable(Type.String(), 'The conversation or session.'),
  tags: nullable(Type.Array(Type.String()), 'The tags.'),
  metadata: nullable(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
    'The metadata by name.',
  ),
};

/** Only with `payload: full`, read when the event is sent. */
const fullFields = {
  outputText: Type.Optional(nullable(Type.String(), 'With `full`: the output.')),
  outputJson: Type.Optional(Type.Unknown({ description: 'With `full`: the output as JSON.' })),
  inputVariables: Type.Optional(
    nullable(
      Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
      'With `full`: the variables.',
    ),
  ),
  gone: Type.Optional(
    Type.Literal(true, { description: 'With `full`: the data was deleted before it was sent.' }),
  ),
  truncated: Type.Optional(
    Type.Literal(true, { description: 'With `full`: the body would exceed 256 KiB.' }),
  ),
};

const execution = <const Status extends string>(statuses: readonly Status[]) => ({
  executionId: id('execution', 'The execution.'),
  agentId: id('agent', 'Its agent.'),
  status: oneOf(statuses, 'As in the record.'),
  errorCode: nullable(oneOf(executionErrorCodes), '`null` for a success.'),
  tokensUsed: Type.Integer({ minimum: 0, description: 'Input plus output.' }),
  costUSD: Type.Number({ minimum: 0, description: 'The known part of the cost.' }),
  playground: Type.Optional(
    Type.Literal(true, { description: 'A playground execution. Absent for any other.' }),
  ),
  ...labels,
  ...fullFields,
});

const workflowRun = <const Status extends string>(status: Status) => ({
  workflowRunId: id('workflowRun', 'The workflow run.'),
  workflowId: id('workflow', 'Its workflow.'),
  status: oneOf([status], 'As in the run.'),
  errorCode: nullable(Type.String(), '`null` for a success.'),
  ...labels,
});

const agent = { agentId: id('agent', 'The agent.') };
const key = { apiKeyId: id('key', 'The key. Its secret is never sent.') };
const provider = {
  provider: Type.String({ description: 'Its name in the workspace.' }),
  model: Type.String({ description: 'Format: `provider/model`.' }),
};
const quota = {
  month: Type.String({ description: 'Calendar month (UTC), such as `2026-11`.' }),
  actionsUsed: Type.Integer({ minimum: 0, description: 'AI Actions used in the month.' }),
  actionsPerMonth: Type.Integer({ minimum: 0, description: 'AI Actions of the plan.' }),
};
const budget = {
  budgetId: id('budget', 'The budget.'),
  name: Type.String({ description: 'Its name.' }),
  bucket: Type.String({ description: 'As in the windows of the budget: a user, for example.' }),
  windowStart: time('Start of the window.'),
  resetAt: nullable(time('Its end. `null` for `total`.')),
  limitUSD: Type.Number({ minimum: 0, description: 'The limit then.' }),
  settledUSD: Type.Number({ minimum: 0, description: 'What its calls have cost.' }),
  withheld: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Of the last one in an hour with more than 1,000: how many more were not sent.',
    }),
  ),
};
const alert = {
  alertId: id('alert', 'The alert.'),
  name: Type.String({ description: 'Its name.' }),
  metric: oneOf(alertMetrics, 'What it measures.'),
  value: nullable(Type.Number(), 'The measured value; `null` without data.'),
  threshold: Type.Number({ description: 'It fires above this value.' }),
};

interface Described {
  readonly description: string;
  readonly data: Readonly<Record<string, TSchema>>;
}

/** Every event type: when it is sent, and its data beside the sequence. */
export const eventSchemas = {
  'execution.succeeded': { description: 'An execution succeeded.', data: execution(['success']) },
  'execution.failed': { description: 'An execution failed.', data: execution(['failed']) },
  'execution.canceled': {
    description: 'An execution was canceled.',
    data: execution(['canceled']),
  },
  'execution.refused': {
    description: 'An execution was refused, and the refusal recorded.',
    data: execution(['rate_limited', 'unauthorized']),
  },
  'workflow_run.succeeded': {
    description: 'A workflow run succeeded.',
    data: workflowRun('success'),
  },
  'workflow_run.failed': { description: 'A workflow run failed.', data: workflowRun('failed') },
  'workflow_run.canceled': {
    description: 'A workflow run was canceled.',
    data: workflowRun('canceled'),
  },
  'batch.completed': {
    description: 'A batch ended: none of its lines waits or runs.',
    data: {
      batchId: id('batch', 'The batch.'),
      agentId: id('agent', 'Its agent.'),
      status: oneOf(['completed', 'canceled'], 'As in the batch.'),
      counts: BatchCounts,
    },
  },
  'agent.pinned': {
    description: 'An agent was pinned to another prompt version.',
    data: {
      ...agent,
      promptId: id('prompt', 'The prompt.'),
      promptVersionId: id('version', 'The version from now on.'),
    },
  },
  'agent.moved': {
    description: 'An agent moved in its lifecycle, was archived or restored.',
    data: {
      ...agent,
      action: Type.String({ description: 'The lifecycle action.' }),
      status: oneOf(stages, 'The stage from now on.'),
    },
  },
  'agent.deleted': { description: 'An agent was deleted.', data: agent },
  'key.revoked': { description: 'An API key was revoked.', data: key },
  'key.expiring': {
    description: 'An API key expires within seven days.',
    data: { ...key, expiresAt: time('Its expiry.') },
  },
  'provider.failing': {
    description: 'Ten calls of a model failed in a row, with one credential and in one process.',
    data: {
      ...provider,
      errorCode: oneOf(executionErrorCodes, 'Of the last failure.'),
    },
  },
  'provider.recovered': { description: 'A failing provider answers again.', data: provider },
  'quota.threshold': {
    description: '80 or 90 % of the quota are used. Sent once a month each.',
    data: { ...quota, percent: oneOfNumbers([80, 90]) },
  },
  'quota.exhausted': {
    description: 'The quota is used up. Sent once a month.',
    data: quota,
  },
  'budget.threshold': {
    description: 'A window of a budget has settled a share of its limit. Sent once each.',
    data: {
      ...budget,
      percent: Type.Integer({ minimum: 1, maximum: 100, description: 'The threshold.' }),
    },
  },
  'budget.exhausted': {
    description: 'A window of a budget has refused its first call. Sent once.',
    data: budget,
  },
  'budget.overrun': {
    description: 'A provider charged more than the bound of a call. The window holds all of it.',
    data: {
      ...budget,
      executionId: id('execution', 'The execution.'),
      overrunUSD: Type.Number({ minimum: 0, description: 'What is above the bound.' }),
    },
  },
  'alert.fired': { description: 'An alert fired.', data: alert },
  'alert.cleared': { description: 'An alert cleared.', data: alert },
  'endpoint.disabled': {
    description: 'Another endpoint was disabled.',
    data: { endpointId: id('endpoint', 'The endpoint.'), reason: oneOf(disabledReasons) },
  },
  ping: {
    description: 'A test of the endpoint.',
    data: { endpointId: id('endpoint', 'The endpoint.') },
  },
} satisfies Readonly<Record<EventType, Described>>;

/** The data of each event type, as it is sent. */
export type EventData = {
  [Type in EventType]: Static<TObject<(typeof eventSchemas)[Type]['data']>> & {
    sequence: Static<typeof sequence>;
  };
};

function oneOfNumbers<const Value extends number>(values: readonly Value[]) {
  return Type.Unsafe<Value>({ type: 'integer', enum: [...values] });
}

/** The body of a request to an endpoint. */
export function eventSchema(type: EventType) {
  const { description, data }: Described = eventSchemas[type];
  const title = `${type.split(/[._]/).map(capitalized).join('')}Event`;
  return Type.Object(
    {
      type: oneOf([type]),
      timestamp: time('When it happened. The same in all attempts.'),
      data: Type.Object({ ...data, sequence }),
    },
    { title, description },
  );
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
