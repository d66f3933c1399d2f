import { type Static, Type } from 'typebox';
import { callFailureCodes } from '../../core/failure.ts';
import { missedPolicies } from '../../core/workflow/schedule.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { problems, WorkflowInputProblem } from '../problem.ts';
import { body, id, ifMatch, nullable, oneOf, page, pageQuery, query, time } from '../shared.ts';

const tag = 'Workflows';

const cron = Type.String({
  minLength: 1,
  maxLength: limits.cronMax,
  description:
    'Five fields: minute, hour, day of the month, month, day of the week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Some time of it must come.',
  examples: ['0 2 * * *', '*/15 8-18 * * MON-FRI', '@daily'],
});
const timeZone = Type.String({
  maxLength: limits.timeZoneMax,
  description: 'An IANA name; `UTC` unless set.',
  examples: ['Europe/Berlin'],
});
const missed = oneOf(
  missedPolicies,
  'What becomes of ticks that no process was there for within a minute: `skip` nothing (unless set), `once` one run for all of them.',
);
const input = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  maxProperties: limits.variablesMax,
  description: 'What each run is given.',
});
const enabled = Type.Boolean({ description: 'Off: it does not tick.' });

export const Schedule = Type.Object(
  {
    scheduleId: id('schedule', 'Identifier.'),
    workflowId: id('workflow', 'The workflow that it starts.'),
    ...{ cron, timeZone, missed, input, enabled },
    nextTimes: Type.Array(time('A tick to come.'), {
      description: 'The next five; fewer where no more will come, none while it is off.',
    }),
    lastAt: nullable(time('The last tick that started a run.')),
    lastError: nullable(
      Type.Object({
        at: time('The tick.'),
        code: oneOf(callFailureCodes, 'As executing the workflow would have been refused.'),
        message: Type.String({ description: 'What was wrong.' }),
      }),
      'Why a tick started no run; `null` once one does, or the schedule is changed.',
    ),
    createdAt: time('When it was created.'),
    updatedAt: time('When it last changed.'),
    createdBy: nullable(id('user', 'Who created it; `null` where that account is gone.')),
  },
  { title: 'Schedule' },
);
export type Schedule = Static<typeof Schedule>;

const ofWorkflow = '/api/v1/workflows/{workflowId}/schedules';

export const createSchedule = endpoint({
  id: 'createSchedule',
  method: 'POST',
  path: ofWorkflow,
  summary: 'Create a schedule',
  description:
    'Starts a run of the workflow at each tick, exactly one however many processes there are. `executedBy` of these runs is who created it. The input must hold what the pinned version requires (`MISSING_VARIABLES` otherwise). Needs the permission `execute` as well.',
  tag,
  auth: 'manage',
  body: body('ScheduleInput', {
    cron,
    timeZone: Type.Optional(timeZone),
    missed: Type.Optional(missed),
    input: Type.Optional(input),
    enabled: Type.Optional(enabled),
  }),
  answers: { 201: Schedule, 400: WorkflowInputProblem, ...problems(404, 409) },
  sends: ['ETag', 'Location'],
});

export const listSchedules = endpoint({
  id: 'listSchedules',
  method: 'GET',
  path: ofWorkflow,
  summary: 'List the schedules of a workflow',
  description: 'Newest first.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query(pageQuery),
  answers: { 200: page('ScheduleList', 'schedules', Schedule), ...problems(404) },
});

export const getSchedule = endpoint({
  id: 'getSchedule',
  method: 'GET',
  path: `${ofWorkflow}/{scheduleId}`,
  summary: 'Read a schedule',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: Schedule, ...problems(404) },
  sends: ['ETag'],
});

export const updateSchedule = endpoint({
  id: 'updateSchedule',
  method: 'PATCH',
  path: `${ofWorkflow}/{scheduleId}`,
  summary: 'Change a schedule',
  description:
    'What was missed while it was off, or before its times were changed, is not made up for. The input must hold what the pinned version requires where it is changed, or the schedule switched on. Needs the permission `execute` as well.',
  tag,
  auth: 'manage',
  headers: ifMatch,
  body: body('SchedulePatch', {
    cron: Type.Optional(cron),
    timeZone: Type.Optional(timeZone),
    missed: Type.Optional(missed),
    input: Type.Optional(input),
    enabled: Type.Optional(enabled),
  }),
  answers: { 200: Schedule, 400: WorkflowInputProblem, ...problems(404, 412) },
  sends: ['ETag'],
});

export const deleteSchedule = endpoint({
  id: 'deleteSchedule',
  method: 'DELETE',
  path: `${ofWorkflow}/{scheduleId}`,
  summary: 'Delete a schedule',
  tag,
  auth: 'manage',
  answers: { 204: null, ...problems(404) },
});
