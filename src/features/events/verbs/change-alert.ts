import { monthOf, monthStartMs } from '../../../core/agent/limits.ts';
import { CallFailure, invalidRequest, notFound, requireFound } from '../../../core/failure.ts';
import { levelMs } from '../../../core/history/statistics.ts';
import { uuid7 } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { isStatementTimeout } from '../../../db/database-error.ts';
import { findBudget } from '../../budgets/statements/budgets-statements.ts';
import { readUsage } from '../../people/statements/usage-statements.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { type AlertSettings, alertsMax, settingsProblem } from '../rules/alert.ts';
import {
  type Firing,
  type PreviewValue,
  previewAlert,
  queueAges,
  quotaValues,
  type ValueAt,
  windowValues,
} from '../rules/alert-preview.ts';
import { countAccepted, readMinutes, readWaits } from '../statements/alert-values.ts';
import * as store from '../statements/alerts.ts';
import { requireAgents } from './require-agents.ts';

/** Creates, changes, deletes and previews alerts. */

export async function createAlert(
  db: Db,
  caller: Caller,
  settings: AlertSettings,
): Promise<store.AlertRow> {
  checkSettings(settings);
  const { workspaceId, userId: createdBy } = caller;
  return inTransaction(db, async (trx) => {
    await requireSubjects(trx, caller, settings);
    if ((await store.countAlerts(trx, workspaceId)) >= alertsMax) {
      throw new CallFailure('CONFLICT', `A workspace has at most ${alertsMax} alerts.`);
    }
    const id = uuid7(await readClock(trx));
    await store.insertAlert(trx, { ...settings, id, workspaceId, createdBy });
    const { name, metric, threshold } = settings;
    await auditChange(trx, caller, 'alert.create', id, { name, metric, threshold });
    return requireFound(await store.findAlert(trx, workspaceId, id), 'alert');
  });
}

export async function changeAlert(
  db: Db,
  caller: Caller,
  id: string,
  change: Partial<AlertSettings>,
): Promise<store.AlertRow> {
  return inTransaction(db, async (trx) => {
    const row = requireFound(await store.lockAlert(trx, caller.workspaceId, id), 'alert');
    const fields = Object.keys(change);
    if (fields.length === 0) return row;
    const settings = { ...row, ...change };
    checkSettings(settings);
    await requireSubjects(trx, caller, change);
    await store.writeAlert(trx, id, settings);
    await auditChange(trx, caller, 'alert.change', id, { fields });
    return requireFound(await store.findAlert(trx, caller.workspaceId, id), 'alert');
  });
}

/** Sends nothing, even if it would fire. */
export async function deleteAlert(db: Db, caller: Caller, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    if (!(await store.deleteAlert(trx, caller.workspaceId, id))) throw notFound('alert');
    await auditChange(trx, caller, 'alert.delete', id, {});
  });
}

/** As `previewFirings`, for an alert that does not exist. */
export async function previewNewAlert(
  db: Db,
  caller: Caller,
  settings: AlertSettings,
  days: number,
): Promise<Preview> {
  checkSettings(settings);
  await inTransaction(db, (trx) => requireSubjects(trx, caller, settings));
  return previewFirings(db, caller.workspaceId, settings, days);
}

export interface Preview {
  readonly firings: readonly Firing[];
  readonly values: readonly PreviewValue[];
}

/** When the alert would have fired in the last days. */
export async function previewFirings(
  db: Db,
  workspaceId: string,
  settings: AlertSettings,
  days: number,
): Promise<Preview> {
  const toMs = await store.readEvaluatedMinute(db);
  const bounds = { fromMs: toMs - days * levelMs.day, toMs };
  const valueAt = await readPastValues(db, { ...settings, workspaceId }, bounds).catch(
    (error: unknown) => {
      // Clients try again where the service is unavailable, but this statement would take as long again.
      if (isStatementTimeout(error)) return null;
      throw error;
    },
  );
  if (!valueAt) {
    throw invalidRequest('The preview would read too much. Use fewer "days" or fewer agents.');
  }
  return previewAlert(settings, valueAt, bounds);
}

interface Bounds {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Null if there is too much to read. */
async function readPastValues(
  db: Db,
  alert: AlertSettings & { readonly workspaceId: string },
  { fromMs, toMs }: Bounds,
): Promise<ValueAt | null> {
  switch (alert.metric) {
    case 'budgetUsed':
      throw invalidRequest('"budgetUsed" has no preview: what a budget had used is not kept.');
    case 'quotaUsed': {
      const { actionsPerMonth } = await readUsage(db, alert.workspaceId);
      const { fromMs: firstMs, toMs: endMs } = wholeHours({ fromMs, toMs });
      const monthMs = monthStartMs(monthOf(fromMs));
      const accepted = await countAccepted(db, alert, { fromMs: monthMs, toMs: firstMs });
      const minutes = await readMinutes(db, alert, { fromMs: firstMs, toMs: endMs });
      if (accepted === null || minutes === null) return null;
      return quotaValues([{ startMs: monthMs, accepted }, ...minutes], actionsPerMonth);
    }
    case 'queueAge': {
      const waits = await readWaits(db, alert, wholeHours({ fromMs: fromMs - waitMsMax, toMs }));
      return waits && queueAges(waits);
    }
    default: {
      const firstMs = fromMs - alert.windowMinutes * levelMs.minute;
      const minutes = await readMinutes(db, alert, wholeHours({ fromMs: firstMs, toMs }));
      return minutes && windowValues(alert, minutes);
    }
  }
}

/** Calls that were accepted longer before the period do not count in `queueAge`. */
const waitMsMax = levelMs.day;

function wholeHours({ fromMs, toMs }: Bounds): Bounds {
  const { hour } = levelMs;
  return { fromMs: Math.floor(fromMs / hour) * hour, toMs: Math.ceil(toMs / hour) * hour };
}

async function requireSubjects(
  trx: Trx,
  caller: Caller,
  { agentIds = null, budgetId = null }: Partial<AlertSettings>,
): Promise<void> {
  await requireAgents(trx, caller, agentIds);
  if (budgetId !== null) {
    requireFound(await findBudget(trx, caller.workspaceId, budgetId), 'budget');
  }
}

function checkSettings(settings: AlertSettings): void {
  const problem = settingsProblem(settings);
  if (problem !== null) throw invalidRequest(problem);
}
