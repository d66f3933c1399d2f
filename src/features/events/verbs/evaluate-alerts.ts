import { monthOf } from '../../../core/agent/limits.ts';
import { levelMs } from '../../../core/history/statistics.ts';
import { alertMail } from '../../../core/people/mail.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { readBudgetUsed } from '../../budgets/statements/spent-windows.ts';
import { queueMails, readOwners, takeMails } from '../../people/statements/mails.ts';
import { readUsage } from '../../people/statements/usage-statements.ts';
import { alertEvent, isCurrent, measure, nextState, shareOfQuota } from '../rules/alert.ts';
import { readCallSums, readQueueAge } from '../statements/alert-values.ts';
import { type DueAlert, lockDueAlert, writeEvaluation } from '../statements/alerts.ts';

/**
 * Evaluates every alert whose last minute has not been evaluated. Any number of processes may do it at the same time: an alert
 * is locked from its measurement to the commit of its new state and its event.
 */
export async function evaluateAlerts({
  db,
  mailsFrom = null,
  onError,
}: {
  readonly db: Db;
  /** The public URL, if owners get e-mail; null if they do not. */
  readonly mailsFrom?: string | null;
  readonly onError: (error: unknown) => void;
}): Promise<void> {
  // An alert that fails does not keep the others from being evaluated; the next round tries it again.
  const failed: string[] = [];
  for (let more = true; more; ) {
    let id: string | null = null;
    try {
      more = await inTransaction(db, async (trx) => {
        const alert = await lockDueAlert(trx, failed);
        id = alert?.id ?? null;
        if (alert) await evaluate(trx, alert, mailsFrom);
        return alert !== null;
      });
    } catch (error) {
      if (id === null) throw error;
      failed.push(id);
      onError(error);
    }
  }
}

async function evaluate(trx: Trx, alert: DueAlert, mailsFrom: string | null): Promise<void> {
  const { id, toMs, state: from } = alert;
  const value = await readValue(trx, alert);
  const to = nextState(alert, from, value);
  const atMs = await writeEvaluation(trx, id, { state: to, value, toMs });
  const event = alertEvent(alert, { from, to, value, atMs });
  if (!event) return;
  if (mailsFrom !== null) {
    await mailOwners(trx, alert, { value, isFiring: to === 'firing', url: mailsFrom });
  }
  await writeEvents(trx, [event]);
}

async function mailOwners(
  trx: Trx,
  { workspaceId, name, metric, threshold }: DueAlert,
  {
    url,
    ...change
  }: { readonly value: number | null; readonly isFiring: boolean; readonly url: string },
): Promise<void> {
  const { workspaceName, emails } = await readOwners(trx, workspaceId);
  const alert = {
    name,
    metric,
    threshold,
    ...change,
    workspaceName,
    url: `${url}/settings/alerts`,
  };
  const allowed = await takeMails(trx, workspaceId, emails.length);
  await queueMails(
    trx,
    emails.slice(0, allowed).map((email) => alertMail(email, alert)),
  );
}

async function readValue(trx: Trx, alert: DueAlert): Promise<number | null> {
  const { metric, windowMinutes, toMs } = alert;
  if (isCurrent(metric)) {
    if (metric === 'budgetUsed') return readBudgetUsed(trx, alert.budgetId);
    return metric === 'queueAge' ? readQueueAge(trx, alert) : readQuotaUsed(trx, alert.workspaceId);
  }
  const fromMs = toMs - windowMinutes * levelMs.minute;
  return measure(alert, await readCallSums(trx, alert, { fromMs, toMs }));
}

async function readQuotaUsed(trx: Trx, workspaceId: string): Promise<number | null> {
  const { actionsPerMonth, month, monthUsed, nowMs } = await readUsage(trx, workspaceId);
  return shareOfQuota(month === monthOf(nowMs) ? monthUsed : 0, actionsPerMonth);
}
