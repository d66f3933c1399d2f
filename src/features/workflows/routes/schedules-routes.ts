import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { costLimitText } from '../../../core/agent/cost-limit.ts';
import { requireFound } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import { changedLabels, labelFieldsOf } from '../../../core/labels.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readClock } from '../../../db/clock.ts';
import { etag, ifMatch } from '../../../http/request/if-match.ts';
import { pageOf, readPage } from '../../../http/request/page-query.ts';
import { route } from '../../../http/route.ts';
import {
  requirePermission,
  requireWholeWorkspace,
} from '../../people/access/require-permission.ts';
import * as contract from '../contract/schedules-contract.ts';
import { nextTicks } from '../rules/schedule.ts';
import { findSchedule, listSchedules, type ScheduleRow } from '../statements/schedules.ts';
import * as flow from '../verbs/change-schedule.ts';
import type { WorkflowDeps } from './workflow-deps.ts';
import { requireWorkflow } from './workflows-routes.ts';

/** Schedules of workflows. */
export function scheduleRoutes(app: FastifyInstance, deps: WorkflowDeps): void {
  const { db } = deps;

  route(app, deps, contract.createSchedule, async ({ params, ids, body, caller }) => {
    requireWholeWorkspace(caller);
    requirePermission(caller, 'execute');
    const { cron, timeZone = 'UTC', missed = 'skip', enabled = true } = body;
    const input = JSON.stringify(body.input ?? {});
    const labels = changedLabels(null, body);
    const maxCostUsd = limitOf(body.maxCostUSD);
    const schedule = { cron, timeZone, missed, input, labels, maxCostUsd, enabled };
    const row = await flow.createSchedule(db, caller, ids.workflowId, schedule);
    const location = `/api/v1/workflows/${params.workflowId}/schedules/${toId('schedule', row.id)}`;
    return scheduleResponse(row, { location });
  });

  route(app, deps, contract.listSchedules, async ({ ids, query, caller }) => {
    const page = readPage(query);
    const workflow = await requireWorkflow(db, caller, ids.workflowId);
    const { rows, total } = await listSchedules(db, workflow.id, page);
    const schedules = await schedulesOf(rows, await readClock(db));
    return { result: pageOf('schedules', page, { rows: schedules, total }) };
  });

  route(app, deps, contract.getSchedule, async ({ ids, caller }) => {
    const { workflowId, id } = await scheduleKey(caller, ids);
    const row = await findSchedule(db, workflowId, id);
    return scheduleResponse(requireFound(row, 'schedule', 'workflow'));
  });

  route(app, deps, contract.updateSchedule, async ({ ids, body, caller, request }) => {
    requireWholeWorkspace(caller);
    requirePermission(caller, 'execute');
    const { input, user, session, tags, metadata, maxCostUSD, ...others } = body;
    const labels = { user, session, tags, metadata };
    const change = {
      ...others,
      ...(input && { input: JSON.stringify(input) }),
      ...(maxCostUSD !== undefined && { maxCostUsd: limitOf(maxCostUSD) }),
      labels,
    };
    const key = await scheduleKey(caller, ids);
    return scheduleResponse(await flow.changeSchedule(db, caller, key, change, ifMatch(request)));
  });

  route(app, deps, contract.deleteSchedule, async ({ ids, caller, request }) => {
    requireWholeWorkspace(caller);
    await flow.deleteSchedule(db, caller, await scheduleKey(caller, ids), ifMatch(request));
    return { result: null };
  });

  async function scheduleKey(caller: Caller, ids: { workflowId: string; scheduleId: string }) {
    const workflow = await requireWorkflow(db, caller, ids.workflowId);
    return { workflowId: workflow.id, id: ids.scheduleId };
  }

  async function scheduleResponse(row: ScheduleRow, headers: Record<string, string> = {}) {
    const result = scheduleOf(row, await readClock(db));
    return { result, headers: { ...headers, etag: etag(row.revision) } };
  }
}

const timesShown = 5;

/** Yields between schedules: computing the next times of a rare schedule blocks the event loop for milliseconds. */
async function schedulesOf(rows: readonly ScheduleRow[], nowMs: number) {
  const schedules: ReturnType<typeof scheduleOf>[] = [];
  for (const row of rows) {
    schedules.push(scheduleOf(row, nowMs));
    await yieldToEventLoop();
  }
  return schedules;
}

function scheduleOf(row: ScheduleRow, nowMs: number) {
  // A due tick that has not fired yet is the next time.
  const next = row.nextAt?.getTime() ?? null;
  const nextTimes =
    next === null ? [] : [next, ...nextTicks(row, Math.max(next, nowMs), timesShown - 1)];
  return { ...row, ...labelFieldsOf(row.labels), maxCostUSD: row.maxCostUsd, nextTimes };
}

function limitOf(maxCostUSD: number | null | undefined): string | null {
  return maxCostUSD == null ? null : costLimitText(maxCostUSD);
}
