import { Type } from 'typebox';
import { callFailureCodes } from '../../../core/failure.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { problems, WorkflowInputProblem } from '../../../http/contract/problem.ts';
import {
  body,
  creationAndChange,
  id,
  ifMatch,
  nullable,
  oneOf,
  optional,
  ownId,
  page,
  pageQuery,
  query,
  time,
} from '../../../http/contract/shared.ts';
import { labels, labelsPatch, recordedLabels } from '../../executions/contract/labels-contract.ts';
import { costLimit } from '../../prompts/contract/cost-limit-contract.ts';
import { missedPolicies } from '../rules/schedule.ts';

const tag = 'Workflows';
const readable = { method: 'GET', tag, auth: 'manage', session: 'read' } as const;
const managed = { tag, auth: 'manage' } as const;

const cron = Type.String({
  minLength: 1,
  maxLength: limits.cronMax,
  description:
    'Five fields: minute, hour, day of month, month, day of week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Must have a future tick.',
  examples: ['0 2 * * *', '*/15 8-18 * * MON-FRI', '@daily'],
});
const timeZone = Type.String({
  maxLength: limits.timeZoneMax,
  description: 'IANA time zone. Default: `UTC`.',
  examples: ['Europe/Berlin'],
});
const missed = oneOf(
  missedPolicies,
  'Policy for ticks that no process handled within a minute. `skip` (default): no run. `once`: one run for all of them.',
);
const input = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  maxProperties: limits.variablesMax,
  description: 'Input of each workflow run.',
});
const maxCostUSD = costLimit('The most that each workflow run may cost, in US dollars.');
const enabled = Type.Boolean({ description: '`false`: the schedule does not tick.' });

export const Schedule = Type.Object(
  {
    scheduleId: ownId('schedule'),
    workflowId: id('workflow', 'The workflow to start.'),
    ...{ cron, timeZone, missed, input },
    ...recordedLabels,
    maxCostUSD: Type.Optional(maxCostUSD),
    enabled,
    nextTimes: Type.Array(time('A future tick.'), {
      description:
        'The next five ticks. Fewer if no more follow; none if the schedule is disabled.',
    }),
    lastAt: nullable(time('The last tick that started a workflow run.')),
    lastError: nullable(
      Type.Object({
        at: time('Time of the tick.'),
        code: oneOf(callFailureCodes, 'Error code of the refused workflow run.'),
        message: Type.String({ description: 'What was wrong.' }),
      }),
      'Why the last tick started no run. `null` after a successful tick or a change of the schedule.',
    ),
    ...creationAndChange,
  },
  { title: 'Schedule' },
);

const ofWorkflow = '/api/v1/workflows/{workflowId}/schedules';

export const createSchedule = endpoint({
  ...managed,
  id: 'createSchedule',
  method: 'POST',
  path: ofWorkflow,
  summary: 'Create a schedule',
  description:
    'Starts one workflow run at each tick, regardless of the number of processes. `executedBy` of these runs is the creator of the schedule. The input must contain the required inputs of the pinned version (`MISSING_VARIABLES` otherwise). Also needs the permission `execute`.',
  body: body('ScheduleInput', {
    cron,
    ...optional({ timeZone, missed, input }),
    ...labels,
    ...optional({ maxCostUSD, enabled }),
  }),
  responses: { 201: Schedule, 400: WorkflowInputProblem, ...problems(404, 409) },
  responseHeaders: ['ETag', 'Location'],
});

export const listSchedules = endpoint({
  ...readable,
  id: 'listSchedules',
  path: ofWorkflow,
  summary: 'List the schedules of a workflow',
  description: 'Sorted newest first.',
  query: query(pageQuery),
  responses: { 200: page('ScheduleList', 'schedules', Schedule), ...problems(404) },
});

export const getSchedule = endpoint({
  ...readable,
  id: 'getSchedule',
  path: `${ofWorkflow}/{scheduleId}`,
  summary: 'Get a schedule',
  responses: { 200: Schedule, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const updateSchedule = endpoint({
  ...managed,
  id: 'updateSchedule',
  method: 'PATCH',
  path: `${ofWorkflow}/{scheduleId}`,
  summary: 'Update a schedule',
  description:
    'Ticks missed while it was disabled, or before its times changed, are not caught up. The required inputs of the pinned version are checked if the input changes or the schedule is enabled. Also needs the permission `execute`.',
  headers: ifMatch,
  body: body('SchedulePatch', {
    ...optional({ cron, timeZone, missed, input }),
    ...labelsPatch,
    ...optional({ maxCostUSD: nullable(maxCostUSD), enabled }),
  }),
  responses: { 200: Schedule, 400: WorkflowInputProblem, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const deleteSchedule = endpoint({
  ...managed,
  id: 'deleteSchedule',
  method: 'DELETE',
  path: `${ofWorkflow}/{scheduleId}`,
  summary: 'Delete a schedule',
  headers: ifMatch,
  responses: { 204: null, ...problems(404) },
});
