import { type Static, Type } from 'typebox';
import { workflowRunStatuses } from '../../core/workflow/definition.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { problems, WorkflowProblem, WorkflowProblems } from '../problem.ts';
import {
  body,
  id,
  ifMatch,
  name,
  nullable,
  oneOf,
  page,
  pageQuery,
  query,
  reference,
  text,
  time,
  versionLabel,
} from '../shared.ts';
import { WorkflowDefinition, WorkflowDefinitionInput } from './workflow-definition.ts';

const tag = 'Workflows';
const author = nullable(id('user', 'Who created it; `null` where that account is gone.'));
const description = nullable(text(limits.descriptionMax));
const workflowName = name('For people; unique in the workspace.');
const enabled = Type.Boolean({
  description: 'Off: nothing starts a run of it any more; those under way go on.',
});
const label = Type.String({ description: 'Unique in its workflow.' });

const fields = {
  workflowId: id('workflow', 'Identifier.'),
  name: Type.String(),
  description,
  enabled,
  workflowVersionId: id('workflowVersion', 'The pinned version.'),
  workflowVersionLabel: label,
  number: Type.Integer({ minimum: 1, description: 'The number of the pinned version.' }),
  stepCount: Type.Integer({ minimum: 1, description: 'How many steps the pinned version has.' }),
  createdAt: time('When it was created.'),
  updatedAt: time('When it last changed.'),
  createdBy: author,
};

const WorkflowLastRun = Type.Object(
  {
    workflowRunId: id('workflowRun', 'Identifier.'),
    status: oneOf(workflowRunStatuses),
    executedAt: time('When it was accepted.'),
  },
  { title: 'WorkflowLastRun' },
);

/** A workflow as lists hold it: without its definition, which can be large. */
export const WorkflowSummary = Type.Object(
  {
    ...fields,
    lastRuns: Type.Optional(
      Type.Array(WorkflowLastRun, {
        maxItems: limits.workflowLastRunsMax,
        description: `With \`include=activity\`: of its newest 1,000 runs those that the caller sees, the newest first, at most ${limits.workflowLastRunsMax}.`,
      }),
    ),
    nextAt: Type.Optional(
      nullable(
        time('With `include=activity`: when a schedule starts it next; `null` where none does.'),
      ),
    ),
  },
  { title: 'WorkflowSummary' },
);
export type WorkflowSummary = Static<typeof WorkflowSummary>;

export const Workflow = Type.Object(
  {
    ...fields,
    definition: WorkflowDefinition,
    problems: Type.Optional(
      Type.Array(WorkflowProblem, {
        description:
          'Present only where a condition of the pinned version breaks a rule that was added after it was saved. Nothing starts a run until a version without problems is pinned.',
      }),
    ),
  },
  { title: 'Workflow' },
);
export type Workflow = Static<typeof Workflow>;

const versionFields = {
  workflowVersionId: id('workflowVersion', 'Identifier.'),
  workflowVersionLabel: label,
  number: Type.Integer({ minimum: 1, description: 'Counts up from 1 in its workflow.' }),
  workflowId: id('workflow', 'The workflow it belongs to.'),
  stepCount: Type.Integer({ minimum: 1, description: 'How many steps it has.' }),
  notes: nullable(Type.String()),
  createdAt: time('When it was created.'),
  createdBy: author,
};

export const WorkflowVersionSummary = Type.Object(versionFields, {
  title: 'WorkflowVersionSummary',
});
export type WorkflowVersionSummary = Static<typeof WorkflowVersionSummary>;

export const WorkflowVersion = Type.Object(
  { ...versionFields, definition: WorkflowDefinition },
  { title: 'WorkflowVersion' },
);
export type WorkflowVersion = Static<typeof WorkflowVersion>;

export const WorkflowPin = Type.Object(
  {
    pinId: id('workflowPin', 'Identifier.'),
    workflowVersionId: id('workflowVersion', 'The version that was pinned.'),
    workflowVersionLabel: Type.String(),
    number: Type.Integer({ description: 'The number of that version.' }),
    pinnedAt: time('From when it was.'),
    pinnedBy: nullable(id('user', 'By whom; `null` where that account is gone.')),
  },
  { title: 'WorkflowPin' },
);
export type WorkflowPin = Static<typeof WorkflowPin>;

const notes = Type.Optional(nullable(text(limits.notesMax, 'What changed and why.')));

export const createWorkflow = endpoint({
  id: 'createWorkflow',
  method: 'POST',
  path: '/api/v1/workflows',
  summary: 'Create a workflow',
  description:
    'With its definition as version 1, which is pinned. 400 with `problems`, each naming its step, where the definition does not hold: cycles, unknown names, conditions that cannot be read, agents that are not deployed or not seen by the caller, required variables that nothing gives. 409 where the name is taken.',
  tag,
  auth: 'manage',
  body: body('WorkflowInput', {
    name: workflowName,
    description: Type.Optional(description),
    enabled: Type.Optional(enabled),
    definition: WorkflowDefinitionInput,
  }),
  answers: { 201: Workflow, 400: WorkflowProblems, ...problems(409) },
  sends: ['ETag', 'Location'],
});

export const listWorkflows = endpoint({
  id: 'listWorkflows',
  method: 'GET',
  path: '/api/v1/workflows',
  summary: 'List workflows',
  description:
    'Newest first, without the definitions. Those of which the caller sees every agent. `include=activity` takes the permission `read` as well.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query({
    ...pageQuery,
    q: Type.Optional(text(limits.searchMax, 'Part of the name or description, in any case.')),
    include: Type.Optional(
      oneOf(['activity'], 'Adds `lastRuns` and `nextAt`: what a list shows beside each.'),
    ),
  }),
  answers: { 200: page('WorkflowList', 'workflows', WorkflowSummary) },
});

export const getWorkflow = endpoint({
  id: 'getWorkflow',
  method: 'GET',
  path: '/api/v1/workflows/{workflowId}',
  summary: 'Read a workflow',
  description: 'With the definition of the pinned version.',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: Workflow, ...problems(404) },
  sends: ['ETag'],
});

export const updateWorkflow = endpoint({
  id: 'updateWorkflow',
  method: 'PATCH',
  path: '/api/v1/workflows/{workflowId}',
  summary: 'Change a workflow',
  description:
    '`workflowVersionId` pins another version, an earlier one too; it is checked again as it was when it was made. Runs that are under way keep the version they began with.',
  tag,
  auth: 'manage',
  headers: ifMatch,
  body: body('WorkflowPatch', {
    name: Type.Optional(workflowName),
    description: Type.Optional(description),
    enabled: Type.Optional(enabled),
    workflowVersionId: Type.Optional(reference('workflowVersion', 'Pins this version.')),
  }),
  answers: { 200: Workflow, 400: WorkflowProblems, ...problems(404, 409, 412) },
  sends: ['ETag'],
});

export const deleteWorkflow = endpoint({
  id: 'deleteWorkflow',
  method: 'DELETE',
  path: '/api/v1/workflows/{workflowId}',
  summary: 'Delete a workflow',
  description:
    'Its schedules and webhooks go with it. Runs that are under way go on to their end; their executions stay until retention takes them.',
  tag,
  auth: 'manage',
  answers: { 204: null, ...problems(404) },
});

export const validateWorkflow = endpoint({
  id: 'validateWorkflow',
  method: 'POST',
  path: '/api/v1/workflows/validate',
  summary: 'Check a definition without saving it',
  description:
    'Always 200: all problems, and where there are none the definition with everything filled in that was left out.',
  tag,
  auth: 'manage',
  body: body('WorkflowValidation', {
    definition: Type.Unsafe<unknown>({
      description: 'As for a new version; anything may stand here.',
    }),
  }),
  answers: {
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
  id: 'createWorkflowVersion',
  method: 'POST',
  path: '/api/v1/workflows/{workflowId}/versions',
  summary: 'Add a version to a workflow',
  description:
    'Immutable once made, and checked as on create. The workflow keeps the version it pins until one is pinned anew. 409 where the label is taken.',
  tag,
  auth: 'manage',
  body: body('WorkflowVersionInput', {
    label: versionLabel,
    notes,
    definition: WorkflowDefinitionInput,
  }),
  answers: { 201: WorkflowVersion, 400: WorkflowProblems, ...problems(404, 409) },
  sends: ['Location'],
});

export const listWorkflowVersions = endpoint({
  id: 'listWorkflowVersions',
  method: 'GET',
  path: '/api/v1/workflows/{workflowId}/versions',
  summary: 'List the versions of a workflow',
  description: 'Newest first, without the definitions.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query(pageQuery),
  answers: {
    200: page('WorkflowVersionList', 'versions', WorkflowVersionSummary),
    ...problems(404),
  },
});

export const getWorkflowVersion = endpoint({
  id: 'getWorkflowVersion',
  method: 'GET',
  path: '/api/v1/workflows/{workflowId}/versions/{workflowVersionId}',
  summary: 'Read a version of a workflow',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: WorkflowVersion, ...problems(404) },
});

export const listWorkflowPins = endpoint({
  id: 'listWorkflowPins',
  method: 'GET',
  path: '/api/v1/workflows/{workflowId}/pins',
  summary: 'List the versions a workflow has had',
  description: 'Newest first; the first is in force. Pinning an earlier one again is a rollback.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query(pageQuery),
  answers: { 200: page('WorkflowPinList', 'pins', WorkflowPin), ...problems(404) },
});
