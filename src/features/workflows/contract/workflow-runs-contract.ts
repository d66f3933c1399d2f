import { Type } from 'typebox';
import {
  stepStatuses,
  workflowRunStatuses,
  workflowTriggers,
} from '../../../core/workflow/definition.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import {
  LimitProblem,
  ListLimitProblem,
  problems,
  WorkflowInputProblem,
} from '../../../http/contract/problem.ts';
import { oneOf, pageQuery, query, text, waitQuery } from '../../../http/contract/shared.ts';
import {
  idempotency,
  idempotencyHeader,
  streamHeaders,
  streamQuery,
} from '../../executions/contract/executions-contract.ts';
import {
  WorkflowExecuteAccepted,
  WorkflowExecuteRequest,
  WorkflowRunDetail,
  WorkflowRunItemList,
  WorkflowRunList,
} from './workflow-run-record.ts';

const tag = 'Workflows';
const readable = { method: 'GET', tag, auth: 'read' } as const;

const includeUsage = Type.Optional(
  oneOf(['usage'], 'Adds `usage`: tokens and costs. Needs the permission `read`.'),
);

const execute = {
  method: 'POST',
  tag,
  headers: idempotency,
  body: WorkflowExecuteRequest,
  responses: {
    202: WorkflowExecuteAccepted,
    400: WorkflowInputProblem,
    ...problems(401, 403, 404, 422),
    429: LimitProblem,
    ...problems(503),
  },
  responseHeaders: ['Location', 'RateLimit', 'Idempotent-Replayed'],
} as const;

export const executeWorkflow = endpoint({
  ...execute,
  id: 'executeWorkflow',
  path: '/api/v1/workflows/{workflowId}/execute',
  summary: 'Execute a workflow',
  description:
    'Accepts the call and responds immediately. The 202 is sent only after the workflow run is durably recorded. Poll `statusUrl` for the result. The call counts once against the limits of the key. The steps count only for their agents, and each of their executions uses one AI Action. The key must have access to every agent of the pinned version.',
  auth: 'execute',
  session: null,
});

export const executeWorkflowInDashboard = endpoint({
  ...execute,
  id: 'executeWorkflowInDashboard',
  path: '/api/workflows/{workflowId}/execute',
  summary: 'Execute a workflow from a session',
  description: 'Like the call with a key, with `trigger: "dashboard"`.',
  auth: 'session',
  session: 'execute',
});

export const listWorkflowRuns = endpoint({
  ...readable,
  id: 'listWorkflowRuns',
  path: '/api/v1/workflows/{workflowId}/runs',
  summary: 'List the runs of a workflow',
  description: 'Sorted newest first, including runs in progress. Filters are combined with AND.',
  query: query({
    ...pageQuery,
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.cursorMax,
        description: '`nextCursor` of the previous page, instead of `offset`.',
      }),
    ),
    status: Type.Optional(oneOf(workflowRunStatuses, 'Only runs with this status.')),
    trigger: Type.Optional(oneOf(workflowTriggers, 'Only runs with this trigger.')),
    failedItems: Type.Optional(
      oneOf(['true'], 'Only runs in which an item of a `forEach` step has failed.'),
    ),
    include: Type.Optional(
      oneOf(
        ['usage'],
        `Adds \`usage\`: tokens and costs. Needs a \`limit\` of at most ${limits.runsWithUsageMax}.`,
      ),
    ),
  }),
  responses: { 200: WorkflowRunList, ...problems(404), 429: ListLimitProblem },
  responseHeaders: ['RateLimit'],
});

export const getWorkflowRun = endpoint({
  ...readable,
  id: 'getWorkflowRun',
  path: '/api/v1/workflows/{workflowId}/runs/{workflowRunId}',
  summary: 'Get a workflow run',
  description: `Always 200 with the same object in every state; fields without a value yet are absent. A \`forEach\` step contains its first ${limits.runItemsMax} items. While \`processing\`, \`Retry-After\` gives the polling interval. A key with \`execute\` but not \`read\` can access the runs it started, without \`input\` and \`executedBy\`.`,
  unlimited: true,
  ownPermission: 'execute',
  query: query({
    ...waitQuery.properties,
    omit: Type.Optional(
      oneOf(['bodies'], 'Omits `input` and `output`. Use it for frequent polling.'),
    ),
    include: includeUsage,
  }),
  responses: { 200: WorkflowRunDetail, ...problems(404) },
  responseHeaders: ['Retry-After'],
});

export const streamWorkflowRun = endpoint({
  ...readable,
  id: 'streamWorkflowRun',
  path: '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/stream',
  summary: 'Stream a workflow run',
  description: `Server-sent events until the run ends: \`step\` (\`{name, status, executionId}\`) for each step at first and whenever it changes, and \`end\` (the run). With \`step\`, also the events of the stream of that step's execution except for \`status\` and \`end\`, where \`restart\` also precedes the text of a fallback. Access and limits as for the stream of an execution.`,
  unlimited: true,
  ownPermission: 'execute',
  query: query({
    ...streamQuery,
    step: Type.Optional(
      text(limits.nameMax, 'Name of the step whose text is streamed. No `forEach` step.'),
    ),
  }),
  headers: streamHeaders,
  produces: ['text/event-stream'],
  responses: { 200: Type.String(), ...problems(400, 404, 503) },
});

export const listWorkflowRunItems = endpoint({
  ...readable,
  id: 'listWorkflowRunItems',
  path: '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/steps/{stepName}/items',
  summary: 'List the items of a step',
  description:
    'Items of a `forEach` step that have started, in list order. Empty for any other step.',
  ownPermission: 'execute',
  query: query({
    ...pageQuery,
    status: Type.Optional(oneOf(stepStatuses, 'Only items with this status.')),
    include: includeUsage,
  }),
  responses: { 200: WorkflowRunItemList, ...problems(404), 429: ListLimitProblem },
  responseHeaders: ['RateLimit'],
});

export const rerunFailedItems = endpoint({
  id: 'rerunFailedItems',
  method: 'POST',
  path: '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/steps/{stepName}/rerun',
  summary: 'Run the failed items of a step again',
  description:
    'Starts a workflow run of the items of a `forEach` step that have not succeeded, with the input and labels of this one. It takes over the results of the other steps, as far as they do not wait for that step; the steps that do run again, for these items only. Its items are numbered from 0. Returns 409 if the run has not ended, if every item has succeeded, if the workflow pins another version by now, if a result is no longer stored, or while an erasure of the workspace is in progress. Access to the run as for reading it; otherwise like the start of a workflow run. Counts as a list call too.',
  tag,
  auth: 'execute',
  headers: idempotencyHeader(
    'Makes retries safe: a request with the same key for the same step returns the first 202 again. Valid for 24 hours and at least until the new run ends.',
  ),
  responses: {
    202: WorkflowExecuteAccepted,
    400: WorkflowInputProblem,
    ...problems(401, 403, 404, 409, 422),
    // Of the starts of the key, with `rateLimits`, or of lists.
    429: ListLimitProblem,
    ...problems(503),
  },
  responseHeaders: ['Location', 'RateLimit', 'Idempotent-Replayed'],
});

export const cancelWorkflowRun = endpoint({
  id: 'cancelWorkflowRun',
  method: 'POST',
  path: '/api/v1/workflows/{workflowId}/runs/{workflowRunId}/cancel',
  summary: 'Cancel a workflow run',
  description:
    'Ends it as `canceled`: its executions are canceled and no further step starts. Returns 409 if it has already ended.',
  tag,
  auth: 'cancel',
  unlimited: true,
  responses: { 200: WorkflowRunDetail, ...problems(404, 409) },
});
