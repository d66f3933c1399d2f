import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import * as contract from '../../../contract/workflows/schedules.ts';
import { changedLabels, labelFieldsOf } from '../../../core/execution/labels.ts';
import { notFound } from '../../../core/failure.ts';
import { fromId, toId } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { nextTicks } from '../../../core/workflow/schedule.ts';
import { readClock } from '../../../db/clock.ts';
import * as flow from '../../../flow/workflow/change-schedule.ts';
import {
  findSchedule,
  listSchedules,
  type ScheduleRow,
} from '../../../store/workflow/schedules.ts';
import { requirePermission, requireWholeWorkspace } from '../../access/require-permission.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { etag, ifMatch } from '../../http/request/if-match.ts';
import { pageResponse, readPage } from '../../http/request/page.ts';
import { RawJson } from '../../http/response/json-response.ts';
import { type HandlerResponse, route } from '../../http/route.ts';
import { requireWorkflow } from './workflows.ts';

/** Schedules of workflows. */
export function scheduleRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.createSchedule, async ({ params, body, caller }) => {
    requireWholeWorkspace(caller);
    requirePermission(caller, 'execute');
    const { cron, timeZone = 'UTC', missed = 'skip', enabled = true } = body;
    const input = JSON.stringify(body.input ?? {});
    const workflowId = fromId('workflow', params.workflowId);
    const labels = changedLabels(null, body);
    const schedule = { cron, timeZone, missed, input, labels, enabled };
    const row = await flow.createSchedule(db, caller, workflowId, schedule);
    const location = `/api/v1/workflows/${params.workflowId}/schedules/${toId('schedule', row.id)}`;
    return scheduleResponse(row, 201, { location });
  });

  route(app, deps, contract.listSchedules, async ({ params, query, caller }) => {
    const page = readPage(query);
    const workflow = await requireWorkflow(db, caller, params.workflowId);
    const { rows, total } = await listSchedules(db, workflow.id, page);
    const schedules = await schedulesWire(rows, await readClock(db));
    return pageResponse('schedules', schedules, { ...page, total });
  });

  route(app, deps, contract.getSchedule, async ({ params, caller }) => {
    const { workflowId, id } = await scheduleKey(caller, params);
    const row = id && (await findSchedule(db, workflowId, id));
    if (!row) throw notFound('schedule', 'workflow');
    return scheduleResponse(row);
  });

  route(app, deps, contract.updateSchedule, async ({ params, body, caller, request }) => {
    requireWholeWorkspace(caller);
    requirePermission(caller, 'execute');
    const { input, user, session, tags, metadata, ...others } = body;
    const labels = { user, session, tags, metadata };
    const change = { ...others, ...(input && { input: JSON.stringify(input) }), labels };
    const key = await scheduleKey(caller, params);
    return scheduleResponse(await flow.changeSchedule(db, caller, key, change, ifMatch(request)));
  });

  route(app, deps, contract.deleteSchedule, async ({ params, caller }) => {
    requireWholeWorkspace(caller);
    await flow.deleteSchedule(db, caller, await scheduleKey(caller, params));
    return { status: 204, body: null };
  });

  async function scheduleKey(caller: Caller, params: { workflowId: string; scheduleId: string }) {
    const workflow = await requireWorkflow(db, caller, params.workflowId);
    return { workflowId: workflow.id, id: fromId('schedule', params.scheduleId) };
  }

  async function scheduleResponse(
    row: ScheduleRow,
    status = 200,
    headers: Record<string, string> = {},
  ): Promise<HandlerResponse> {
    const body = scheduleWire(row, await readClock(db));
    return { status, body, headers: { ...headers, etag: etag(row.revision) } };
  }
}

const timesShown = 5;

/** Yields between schedules: computing the next times of a rare schedule blocks the event loop for milliseconds. */
async function schedulesWire(rows: readonly ScheduleRow[], nowMs: number) {
  const schedules: ReturnType<typeof scheduleWire>[] = [];
  for (const row of rows) {
    schedules.push(scheduleWire(row, nowMs));
    await yieldToEventLoop();
  }
  return schedules;
}

function scheduleWire(row: ScheduleRow, nowMs: number) {
  // A due tick that has not fired yet is the next time.
  const next = row.nextAt?.getTime() ?? null;
  const times =
    next === null ? [] : [next, ...nextTicks(row, Math.max(next, nowMs), timesShown - 1)];
  return {
    scheduleId: toId('schedule', row.id),
    workflowId: toId('workflow', row.workflowId),
    cron: row.cron,
    timeZone: row.timeZone,
    missed: row.missed,
    input: new RawJson(row.input),
    ...labelFieldsOf(row.labels),
    enabled: row.enabled,
    nextTimes: times.map((ms) => new Date(ms).toISOString()),
    lastAt: row.lastAt?.toISOString() ?? null,
    lastError: row.lastError === null ? null : new RawJson(row.lastError),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    createdBy: row.createdBy === null ? null : toId('user', row.createdBy),
  };
}
