import { Type } from 'typebox';
import { workflowRunStatuses } from '../../../core/workflow/definition.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { problems, WorkflowProblem, WorkflowProblems } from '../../../http/contract/problem.ts';
import {
  body,
  creation,
  creationAndChange,
  id,
  ifMatch,
  name,
  nullable,
  oneOf,
  optional,
  ownId,
  page,
  pageQuery,
  query,
  reference,
  slug,
  text,
  time,
  versionLabel,
} from '../../../http/contract/shared.ts';
import { WorkflowDefinition, WorkflowDefinitionInput } from './workflow-definition.ts';

const tag = 'Workflows';
const readable = { method: 'GET', tag, auth: 'manage', session: 'read' } as const;
const managed = { tag, auth: 'manage' } as const;
const description = nullable(text(limits.descriptionMax));
const workflowName = name('Display name. Unique within the workspace.');
const enabled = Type.Boolean({
  description: '`false`: no new run can start. Runs in progress continue.',
});
const label = Type.String({ description: 'Unique within its workflow.' });

const fields = {
  workflowId: ownId('workflow'),
  name: Type.String(),
  slug,
  description,
  enabled,
  workflowVersionId: id('workflowVersion', 'The pinned version.'),
  workflowVersionLabel: label,
  number: Type.Integer({ minimum: 1, description: 'Number of the pinned version.' }),
  stepCount: Type.Integer({ minimum: 1, description: 'Number of steps in the pinned version.' }),
  ...creationAndChange,
};

const WorkflowLastRun = Type.Object(
  {
    workflowRunId: ownId('workflowRun'),
    status: oneOf(workflowRunStatuses),
    executedAt: time('Time of acceptance.'),
  },
  { title: 'WorkflowLastRun' },
);

/** A workflow without its definition, which can be large. Used in lists. */
export const WorkflowSummary = Type.Object(
  {
    ...fields,
    lastRuns: Type.Optional(
      Type.Array(WorkflowLastRun, {
        maxItems: limits.workflowLastRunsMax,
        description: `With \`include=activity\`: the latest runs that the caller can see, newest first, at most ${limits.workflowLastRunsMax} out of the newest 1,000.`,
      }),
    ),
    nextAt: Type.Optional(
      nullable(
        time('With `include=activity`: the next tick of its schedules. `null` if there is none.'),
      ),
    ),
  },
  { title: 'WorkflowSummary' },
);

export const Workflow = Type.Object(
  {
    ...fields,
    definition: WorkflowDefinition,
    problems: Type.Optional(
      Type.Array(WorkflowProblem, {
        description:
          'Present only if a condition of the pinned version breaks a rule added after the version was saved. No workflow run starts until a version without problems is pinned.',
      }),
    ),
  },
  { title: 'Workflow' },
);

const versionFields = {
  workflowVersionId: ownId('workflowVersion'),
  workflowVersionLabel: label,
  number: Type.Integer({
    minimum: 1,
    description: 'Sequential number within its workflow, starting at 1.',
  }),
  workflowId: id('workflow', "The version's workflow."),
  stepCount: Type.Integer({ minimum: 1, description: 'Number of steps.' }),
  notes: nullable(Type.String()),
  ...creation,
};

export const WorkflowVersionSummary = Type.Object(versionFields, {
  title: 'WorkflowVersionSummary',
});

export const WorkflowVersion = Type.Object(
  { ...versionFields, definition: WorkflowDefinition },
  { title: 'WorkflowVersion' },
);

export const WorkflowPin = Type.Object(
  {
    pinId: ownId('workflowPin'),
    workflowVersionId: id('workflowVersion', 'The pinned version.'),
    workflowVersionLabel: Type.String(),
    number: Type.Integer({ description: 'Number of the version.' }),
    pinnedAt: time('Time when the version was pinned.'),
    pinnedBy: nullable(id('user', 'User who pinned it. `null` if the account no longer exists.')),
  },
  { title: 'WorkflowPin' },
);

const notes = Type.Optional(nullable(text(limits.notesMax, 'What changed and why.')));

export const createWorkflow = endpoint({
  ...managed,
  id: 'createWorkflow',
  method: 'POST',
  path: '/api/v1/workflows',
  summary: 'Create a workflow',
  description:
    'Creates the workflow with its definition as version 1 and pins it. Returns 400 with `problems` if the definition is invalid: cycles, unknown names, invalid conditions, agents that are not deployed or not visible to the caller, required variables without a value. Returns 409 if the name or the slug is taken.',
  body: body('WorkflowInput', {
    name: workflowName,
    ...optional({ slug, description, enabled }),
    definition: WorkflowDefinitionInput,
  }),
  responses: { 201: Workflow, 400: WorkflowProblems, ...problems(409) },
  responseHeaders: ['ETag', 'Location'],
});

export const listWorkflows = endpoint({
  ...readable,
  id: 'listWorkflows',
  path: '/api/v1/workflows',
  summary: 'List workflows',
  description:
    'Sorted newest first. Omits the definitions. Lists workflows of which the caller can see every agent. `include=activity` and `workflowRunId` also need the permission `read`.',
  query: query({
    ...pageQuery,
    q: Type.Optional(
      text(limits.searchMax, 'Substring of the name or description. Case-insensitive.'),
    ),
    workflowRunId: Type.Optional(reference('workflowRun', 'Only the workflow of this run.')),
    include: Type.Optional(oneOf(['activity'], 'Adds `lastRuns` and `nextAt`.')),
  }),
  responses: { 200: page('WorkflowList', 'workflows', WorkflowSummary) },
});

export const getWorkflow = endpoint({
  ...readable,
  id: 'getWorkflow',
  path: '/api/v1/workflows/{workflowId}',
  summary: 'Get a workflow',
  description: 'Includes the definition of the pinned version.',
  responses: { 200: Workflow, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const updateWorkflow = endpoint({
  ...managed,
  id: 'updateWorkflow',
  method: 'PATCH',
  path: '/api/v1/workflows/{workflowId}',
  summary: 'Update a workflow',
  description:
    '`workflowVersionId` pins another version, newer or older; the version is validated again. Runs in progress keep their version.',
  headers: ifMatch,
  body: body('WorkflowPatch', {
    ...optional({ name: workflowName, slug, description, enabled }),
    workflowVersionId: Type.Optional(reference('workflowVersion', 'Pins this version.')),
  }),
  responses: { 200: Workflow, 400: WorkflowProblems, ...problems(404, 409) },
  responseHeaders: ['ETag'],
});

export const deleteWorkflow = endpoint({
  ...managed,
  id: 'deleteWorkflow',
  method: 'DELETE',
  path: '/api/v1/workflows/{workflowId}',
  summary: 'Delete a workflow',
  description:
    'Also deletes its schedules and webhooks. Runs in progress continue. Its executions stay until retention deletes them.',
  headers: ifMatch,
  responses: { 204: null, ...problems(404) },
});

export const validateWorkflow = endpoint({
  ...managed,
  id: 'validateWorkflow',
  method: 'POST',
  path: '/api/v1/workflows/validate',
  summary: 'Validate a definition without saving it',
  description:
    'Always 200: all problems or, if there are none, the definition with all defaults filled in.',
  body: body('WorkflowValidation', {
    definition: Type.Unsafe<unknown>({
      description: 'The definition of a new version. Any JSON is accepted.',
    }),
  }),
  responses: {
    200: Type.Object(
      {
        problems: Type.Array(WorkflowProblem),
        definition: Type.Optional(WorkflowDefinition),
      },
      { title: 'WorkflowVerdict' },
    ),
  },
});

export const createWorkflowVersion = endpoint({
  ...managed,
  id: 'createWorkflowVersion',
  method: 'POST',
  path: '/api/v1/workflows/{workflowId}/versions',
  summary: 'Add a version to a workflow',
  description:
    'Versions are immutable and validated as on creation. The workflow keeps its pinned version until another one is pinned. Returns 409 if the label exists.',
  body: body('WorkflowVersionInput', {
    label: versionLabel,
    notes,
    definition: WorkflowDefinitionInput,
  }),
  responses: { 201: WorkflowVersion, 400: WorkflowProblems, ...problems(404, 409) },
  responseHeaders: ['Location'],
});

export const listWorkflowVersions = endpoint({
  ...readable,
  id: 'listWorkflowVersions',
  path: '/api/v1/workflows/{workflowId}/versions',
  summary: 'List the versions of a workflow',
  description: 'Sorted newest first. Omits the definitions.',
  query: query(pageQuery),
  responses: {
    200: page('WorkflowVersionList', 'versions', WorkflowVersionSummary),
    ...problems(404),
  },
});

export const getWorkflowVersion = endpoint({
  ...readable,
  id: 'getWorkflowVersion',
  path: '/api/v1/workflows/{workflowId}/versions/{workflowVersionId}',
  summary: 'Get a workflow version',
  responses: { 200: WorkflowVersion, ...problems(404) },
});

export const listWorkflowPins = endpoint({
  ...readable,
  id: 'listWorkflowPins',
  path: '/api/v1/workflows/{workflowId}/pins',
  summary: 'List the pinned versions of a workflow',
  description:
    'Sorted newest first; the first is the current version. Pin an earlier version again to roll back.',
  query: query(pageQuery),
  responses: { 200: page('WorkflowPinList', 'pins', WorkflowPin), ...problems(404) },
});
