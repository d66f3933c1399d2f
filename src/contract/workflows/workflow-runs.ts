import { Type } from 'typebox';
import {
  stepStatuses,
  workflowRunStatuses,
  workflowTriggers,
} from '../../core/workflow/definition.ts';
import { endpoint } from '../endpoint.ts';
import { idempotency } from '../executions/executions.ts';
import * as limits from '../limits.ts';
import { LimitProblem, ListLimitProblem, problems, WorkflowInputProblem } from '../problem.ts';
import { oneOf, pageQuery, query, waitQuery } from '../shared.ts';
import {
  WorkflowExecuteAccepted,
  WorkflowExecuteRequest,
  WorkflowRunDetail,
  WorkflowRunItemList,
  WorkflowRunList,
} from './workflow-run-record.ts';

const tag = 'Workflows';

const execute = {
  method: 'POST',
  tag,
  headers: idempotency,
  body: WorkflowExecuteRequest,
  answers: {
    202: WorkflowExecuteAccepted,
    400: WorkflowInputProblem,
    ...problems(401, 403, 404, 422),
    429: LimitProblem,
    ...problems(503),
  },
  sends: ['Location', 'RateLimit', 'Idempotent-Replayed'],
} as const;

export const executeWorkflow = endpoint({
  ...execute,
  id: 'executeWorkflow',
  path: '/api/v1/workflows/{workflowId}/execute',
  summary: 'Execute a workflow',
  description:
    'Accepts the call and answers at once; poll `statusUrl` for the outcome. The 202 is sent only when the run is durably recorded. It counts against the limits of the key as one call; each execution of a step spends one AI Action. The key must reach every agent of the pinned version.',
  auth: 'execute',
  session: null,
});

export const executeWorkflowInDashboard = endpoint({
  ...execute,
  id: 'executeWorkflowInDashboard',
  path: '/api/workflows/{workflowId}/execute',
  summary: 'Execute a workflow from a session',
  description: 'As with a key, with `trigger: "dashboard"`.',
  auth: 'session',
  session: 'execute',
});

export const listWorkflowRuns = endpoint({
  id: 'listWorkflowRuns',
  method: 'GET',
  path: '/api/v1/workflows/{workflowId}/runs',
  summary: 'List the runs of a workflow',
  description: 'Newest first, those under way too. Filters combine.',
  tag,
  auth: 'read',
  query: query({
    ...pageQuery,
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.cursorMax,
        description: 'The `nextCursor` of the page before, instead of `offset`.',
      }),
    ),
    status: Type.Optional(oneOf(workflowRunStatuses, 'Only runs with this status.')),
    trigger: Type.Optional(oneOf(workflowTriggers, 'Only runs that this started.')),
  }),
  answers: { 200: WorkflowRunList, ...problems(404), 429: ListLimitProblem },
  sends: ['RateLimit'],
});

export const getWorkflowRun = endpoint({
  id: 'getWorkflowRun',
  method: 'GET',
  path: '/api/v1/workflows/{workflowId}/runs/{workflowRunId}',
  summary: 'Read the status of a workflow run',
  description: `Always 200 with the same object at every stage; what does not exist yet is absent. Of a step with \`forEach\` the first ${limits.runItemsMax} items are told. While \`processing\`, \`Retry-After\` says when to ask again. A key with \`execute\` but not \`read\` reaches the runs it started.`,
  tag,
  auth: 'read',
  ownWith: 'execute',
  query: query({
    ...waitQuery.properties,
    omit: Type.Optional(
      oneOf(
        ['bodies'],
        'Leaves `input` and `output` out: cheap to ask for again and again, however long they are.',
      ),
    ),
  }),
  answers: { 200: WorkflowRunDetail, ...problems(404) },
  sends: ['Retry-After'],
});

export const listWorkflowRunItems = endpoint({
  id: 'listWorkflowRunItems',
  method: 'GET',
  path: '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/steps/{stepName}/items',
  summary: 'List the items of a step',
  description:
    'Of a step with `forEach`, the items that have begun, in the order of the list; of any other step none.',
  tag,
  auth: 'read',
  ownWith: 'execute',
  query: query({
    ...pageQuery,
    status: Type.Optional(oneOf(stepStatuses, 'Only items with this status.')),
  }),
  answers: { 200: WorkflowRunItemList, ...problems(404), 429: ListLimitProblem },
  sends: ['RateLimit'],
});

export const cancelWorkflowRun = endpoint({
  id: 'cancelWorkflowRun',
  method: 'POST',
  path: '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/cancel',
  summary: 'Cancel a workflow run',
  description:
    'Ends it as `canceled`: the executions that are under way are stopped, and nothing more begins. 409 where it has already ended.',
  tag,
  auth: 'cancel',
  answers: { 200: WorkflowRunDetail, ...problems(404, 409) },
});
