import { type Static, Type } from 'typebox';
import {
  stepStatuses,
  workflowFailureCodes,
  workflowRunStatuses,
  workflowTriggers,
} from '../../core/workflow/definition.ts';
import { runItemsMax, runsCountedMax } from '../limits.ts';
import { id, nullable, oneOf, Pagination, page, time } from '../shared.ts';

export const WorkflowExecuteRequest = Type.Object(
  {
    input: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description:
        'Name to value, any JSON; `null` counts as not given. Must cover every required input.',
      examples: [{ ticket: 'Where is my parcel?' }],
    }),
  },
  { title: 'WorkflowExecuteRequest', additionalProperties: false },
);

export const WorkflowExecuteAccepted = Type.Object(
  {
    workflowRunId: id('workflowRun', 'What to poll with.'),
    workflowId: id('workflow', 'The workflow.'),
    status: Type.Literal('processing'),
    statusUrl: Type.String({
      description: 'Relative: `/api/v1/workflows/{workflowId}/runs/{workflowRunId}`.',
    }),
    ignoredInput: Type.Array(Type.String(), {
      description: 'Names that the workflow does not declare: recorded, but not used.',
    }),
  },
  { title: 'WorkflowExecuteAccepted' },
);
export type WorkflowExecuteAccepted = Static<typeof WorkflowExecuteAccepted>;

const fields = {
  workflowRunId: id('workflowRun', 'Identifier.'),
  workflowId: id('workflow', 'The workflow.'),
  workflowVersionId: id('workflowVersion', 'The version that it carries out.'),
  workflowVersionLabel: Type.String(),
  status: oneOf(workflowRunStatuses, 'All but `processing` are final.'),
  trigger: oneOf(workflowTriggers, 'What started it.'),
  executedAt: time('When it was accepted.'),
  completedAt: Type.Optional(time('When it ended.')),
  deadlineAt: time('When it fails at the latest.'),
  executedBy: nullable(
    id('user'),
    "The session's user, the key's issuer, or who made the schedule or webhook; `null` where that is not known any more.",
  ),
  apiKeyId: Type.Optional(id('key', 'Only where a key started it.')),
  failedStep: Type.Optional(Type.String({ description: 'The step that it failed for.' })),
  error: Type.Optional(Type.String({ description: 'On `failed` and `canceled`.' })),
  errorCode: Type.Optional(oneOf(workflowFailureCodes, 'On `failed` and `canceled`.')),
};

/** A run as lists hold it. */
export const WorkflowRun = Type.Object(fields, { title: 'WorkflowRun' });
export type WorkflowRun = Static<typeof WorkflowRun>;

const standing = {
  status: oneOf(stepStatuses, '`waiting` until what it waits for has ended.'),
  agentId: Type.Optional(id('agent', 'The agent that was called last.')),
  executionId: Type.Optional(id('execution', 'Its execution.')),
  failedExecutionId: Type.Optional(
    id('execution', 'The execution that failed before the fallback took over.'),
  ),
  fallback: Type.Optional(Type.Boolean({ description: 'True where the fallback took over.' })),
  startedAt: Type.Optional(
    time('When it was first called, or its list was begun; absent where it was over before that.'),
  ),
  completedAt: Type.Optional(time('When it was over.')),
  error: Type.Optional(Type.String({ description: 'Why it failed.' })),
  errorCode: Type.Optional(Type.String({ description: "Its execution's, or why there was none." })),
};

export const WorkflowRunItem = Type.Object(
  { item: Type.Integer({ minimum: 0, description: 'Its place in the list.' }), ...standing },
  { title: 'WorkflowRunItem' },
);
export type WorkflowRunItem = Static<typeof WorkflowRunItem>;

export const WorkflowRunItemList = page('WorkflowRunItemList', 'items', WorkflowRunItem);

export const WorkflowRunStep = Type.Object(
  {
    name: Type.String({ description: 'As in the definition.' }),
    ...standing,
    skippedReason: Type.Optional(
      oneOf(
        ['CONDITION', 'ALL_SKIPPED'],
        'Why it was skipped: its `when` was not true, or everything that it waits for was skipped.',
      ),
    ),
    itemCount: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Of a step with `forEach`: the length of the list.',
      }),
    ),
    itemsBegun: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How many of them have begun.' }),
    ),
    itemsEnded: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How many of them are over.' }),
    ),
    items: Type.Optional(
      Type.Array(WorkflowRunItem, {
        maxItems: runItemsMax,
        description: `Those that have begun, in order: the first ${runItemsMax}; \`…/steps/{stepName}/items\` lists all of them.`,
      }),
    ),
  },
  { title: 'WorkflowRunStep' },
);
export type WorkflowRunStep = Static<typeof WorkflowRunStep>;

/** The same object at every stage. */
export const WorkflowRunDetail = Type.Object(
  {
    ...fields,
    input: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: 'As it was given, with the defaults of the workflow; gone with the bodies.',
      }),
    ),
    output: Type.Optional(
      Type.Unsafe<unknown>({
        description: 'Any JSON; only when successful, and gone with the bodies.',
      }),
    ),
    steps: Type.Array(WorkflowRunStep, { description: 'All of them, as the definition has them.' }),
  },
  { title: 'WorkflowRunDetail' },
);
export type WorkflowRunDetail = Static<typeof WorkflowRunDetail>;

export const WorkflowRunList = Type.Object(
  {
    runs: Type.Array(WorkflowRun),
    pagination: Pagination,
    totalIsExact: Type.Boolean({
      description: `Runs are counted up to ${runsCountedMax}: false where there are more, and \`total\` says so many.`,
    }),
    nextCursor: Type.Optional(
      Type.String({ description: 'For `cursor`; absent on the last page.' }),
    ),
  },
  { title: 'WorkflowRunList' },
);
