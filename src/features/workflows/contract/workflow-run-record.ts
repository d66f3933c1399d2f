import { type Static, Type } from 'typebox';
import {
  stepStatuses,
  workflowFailureCodes,
  workflowRunStatuses,
  workflowTriggers,
} from '../../../core/workflow/definition.ts';
import { runItemsMax, runsCountedMax } from '../../../http/contract/contract-limits.ts';
import {
  id,
  nullable,
  oneOf,
  ownId,
  Pagination,
  page,
  time,
} from '../../../http/contract/shared.ts';
import { labels, recordedLabels } from '../../executions/contract/labels-contract.ts';
import { costLimit } from '../../prompts/contract/cost-limit-contract.ts';

export const WorkflowExecuteRequest = Type.Object(
  {
    input: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Values by input name, any JSON. `null` counts as not supplied. Must contain every required input.',
      examples: [{ ticket: 'Where is my parcel?' }],
    }),
    ...labels,
    maxCostUSD: Type.Optional(
      costLimit(
        'The most that the workflow run may cost, in US dollars: the executions of all its steps together, with retries and fallbacks. A step that does not fit fails with `COST_LIMIT`. A repeated call with the same `Idempotency-Key` may have another one.',
      ),
    ),
  },
  { title: 'WorkflowExecuteRequest', additionalProperties: false },
);

export const WorkflowExecuteAccepted = Type.Object(
  {
    workflowRunId: id('workflowRun', 'Identifier to poll with.'),
    workflowId: id('workflow', 'The workflow.'),
    status: Type.Literal('processing', {
      description: 'The status at acceptance, even in a replay.',
    }),
    currentStatus: Type.Optional(
      oneOf(workflowRunStatuses, 'Present only in a replay: the status now.'),
    ),
    statusUrl: Type.String({
      description: 'Relative URL: `/api/v1/workflows/{workflowId}/runs/{workflowRunId}`.',
    }),
    ignoredInput: Type.Array(Type.String(), {
      description: 'Inputs that the workflow does not declare. They are recorded but not used.',
    }),
    stepsCounted: Type.Literal(false, {
      description:
        'The start used one call of the limits of the key. The steps use only the limits of their agents.',
    }),
  },
  { title: 'WorkflowExecuteAccepted' },
);
export type WorkflowExecuteAccepted = Static<typeof WorkflowExecuteAccepted>;

const count = (description: string) => Type.Integer({ minimum: 0, description });
const itemCount = (description: string) => Type.Optional(count(description));

const fields = {
  workflowRunId: ownId('workflowRun'),
  workflowId: id('workflow', 'The workflow.'),
  workflowVersionId: id('workflowVersion', 'The version that runs.'),
  workflowVersionLabel: Type.String(),
  status: oneOf(workflowRunStatuses, 'Every status except `processing` is final.'),
  trigger: oneOf(workflowTriggers, 'What started the workflow run.'),
  executedAt: time('Time of acceptance.'),
  completedAt: Type.Optional(time('Time when it ended.')),
  deadlineAt: time('Time at which it fails if it has not ended.'),
  executedBy: nullable(
    id('user'),
    'User of the session, issuer of the key, or creator of the schedule or webhook. `null` if no longer known.',
  ),
  apiKeyId: Type.Optional(id('key', 'Present only if a key started it.')),
  ...recordedLabels,
  maxCostUSD: Type.Optional(
    costLimit(
      'The most that it may cost, in US dollars. Present only if the start had it and the caller may see costs.',
    ),
  ),
  rerunOf: Type.Optional(id('workflowRun', 'The run whose items it runs again.')),
  rerunStep: Type.Optional(Type.String({ description: 'The step of these items.' })),
  itemCount: itemCount('Items of all steps, if one of them has failed.'),
  itemsSucceeded: itemCount('Those that succeeded. Present with `itemCount`.'),
  itemsFailed: itemCount('Those that failed: at least 1. Present with `itemCount`.'),
  failedStep: Type.Optional(Type.String({ description: 'Step that made the run fail.' })),
  error: Type.Optional(Type.String({ description: 'Present on `failed` and `canceled`.' })),
  errorCode: Type.Optional(oneOf(workflowFailureCodes, 'Present on `failed` and `canceled`.')),
};

export const WorkflowUsage = Type.Object(
  {
    executions: count(
      'Number of records of ended executions, including failed ones that a fallback replaced.',
    ),
    inputTokens: count('Input tokens, including cached ones.'),
    outputTokens: count('Output tokens.'),
    costUSD: Type.Number({ minimum: 0, description: 'Sum of the known costs.' }),
    costUnknown: count(
      'Number of executions whose cost is unknown or only partly known. `costUSD` omits the unknown part.',
    ),
  },
  {
    title: 'WorkflowUsage',
    description:
      'With `include=usage`: tokens and costs of the workflow run, of a step with all its items, or of an item, as far as the records exist.',
  },
);

const usage = Type.Optional(WorkflowUsage);

/** A workflow run as returned in lists. */
export const WorkflowRun = Type.Object({ ...fields, usage }, { title: 'WorkflowRun' });

const standing = {
  status: oneOf(stepStatuses, '`waiting` until the steps it depends on have ended.'),
  agentId: Type.Optional(id('agent', 'The agent executed last.')),
  executionId: Type.Optional(id('execution', 'The execution of the step.')),
  failedExecutionId: Type.Optional(
    id('execution', 'The failed execution that the fallback replaced.'),
  ),
  fallback: Type.Optional(Type.Boolean({ description: '`true` if the fallback was executed.' })),
  startedAt: Type.Optional(
    time(
      'Time of the first execution, or of the first item. Absent if the step ended without either.',
    ),
  ),
  completedAt: Type.Optional(time('Time when it ended.')),
  error: Type.Optional(Type.String({ description: 'Reason of the failure.' })),
  errorCode: Type.Optional(
    Type.String({ description: 'Error code of its execution, or why there was none.' }),
  ),
};

export const WorkflowRunItem = Type.Object(
  {
    item: Type.Integer({ minimum: 0, description: 'Index in the list.' }),
    ...standing,
    usage,
  },
  { title: 'WorkflowRunItem' },
);

export const WorkflowRunItemList = page('WorkflowRunItemList', 'items', WorkflowRunItem);

export const WorkflowRunStep = Type.Object(
  {
    name: Type.String({ description: 'Name in the definition.' }),
    ...standing,
    usage,
    skippedReason: Type.Optional(
      oneOf(
        ['CONDITION', 'ALL_SKIPPED'],
        'Why the step was skipped: its `when` was not true, or all steps it depends on were skipped.',
      ),
    ),
    itemCount: itemCount('Length of the list of a `forEach` step.'),
    itemsBegun: itemCount('Number of items that have started.'),
    itemsEnded: itemCount('Number of items that have ended.'),
    itemsSucceeded: itemCount('Number of items that have succeeded.'),
    itemsFailed: itemCount('Number of items that have failed.'),
    items: Type.Optional(
      Type.Array(WorkflowRunItem, {
        maxItems: runItemsMax,
        description: `Items that have started, in order. At most ${runItemsMax}; \`…/steps/{stepName}/items\` lists all of them.`,
      }),
    ),
  },
  { title: 'WorkflowRunStep' },
);

/** The full workflow run, the same object in every state. A key without `read` sees a part of it. */
export const WorkflowRunDetail = Type.Object(
  {
    ...fields,
    executedBy: Type.Optional(fields.executedBy),
    input: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: "Input including the workflow's defaults. Deleted with the bodies.",
      }),
    ),
    output: Type.Optional(
      Type.Unsafe<unknown>({
        description: 'Any JSON. Present only on success, and deleted with the bodies.',
      }),
    ),
    usage,
    steps: Type.Array(WorkflowRunStep, {
      description: 'All steps, in the order of the definition.',
    }),
  },
  { title: 'WorkflowRunDetail' },
);

export type WorkflowRunDetail = Static<typeof WorkflowRunDetail>;

export const WorkflowRunList = Type.Object(
  {
    runs: Type.Array(WorkflowRun),
    pagination: Pagination,
    totalIsExact: Type.Boolean({
      description: `\`false\` if there are more than ${runsCountedMax} runs; \`total\` is then ${runsCountedMax}.`,
    }),
    nextCursor: Type.Optional(
      Type.String({ description: 'Value for `cursor`. Absent on the last page.' }),
    ),
  },
  { title: 'WorkflowRunList' },
);
