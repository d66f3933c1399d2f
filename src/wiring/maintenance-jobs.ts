import type { Db } from '../db/database.ts';
import { repeatWhileFull } from '../flow/transaction/paced-transactions.ts';
import { advanceFarSchedules } from '../flow/workflow/advance-schedules.ts';
import { deleteExpiredIdempotencyKeys } from '../store/admission/idempotency.ts';
import { deleteOldBatches, wakeBatches } from '../store/batch/due-batches.ts';
import { deleteUnfinishedUploads } from '../store/batch/uploads.ts';
import { deleteOldDeliveries } from '../store/event/deliveries.ts';
import { deleteOldEvents } from '../store/event/events.ts';
import * as store from '../store/execution/maintenance.ts';
import { deleteOldRecentWrites } from '../store/history/recent-writes.ts';
import { deleteOldPersonal } from '../store/people/audit.ts';
import { deleteOldInvitations } from '../store/people/invitations.ts';
import { sweep as deleteOldAttempts } from '../store/people/sign-in-attempts.ts';
import { deleteExpiredSessions } from '../store/people/users.ts';
import { wakeSteps, wakeStops } from '../store/workflow/workflow-steps.ts';

const batchRows = 1_000;
/** Each with up to 50,000 lines. */
const batchesAtOnce = 2;

/**
 * The jobs of periodic maintenance: partitions, expired rows, lost wake-ups. Each batch is a transaction of its own, so nobody
 * waits long. Partitions come first: records of a month without a partition could not be moved to it later.
 */
export function maintenanceJobs(db: Db): (() => Promise<unknown>)[] {
  const all = (batch: (db: Db, limit: number) => Promise<number>, limit = batchRows) =>
    repeatWhileFull(limit, () => batch(db, limit));
  return [
    () => store.createPartitions(db),
    () => all(deleteExpiredIdempotencyKeys),
    () => store.deleteOldRefusals(db),
    () => store.deleteOldListCounts(db),
    () => store.deleteOldCancellations(db),
    () => all(deleteOldInvitations),
    () => all(deleteOldAttempts),
    () => all(deleteExpiredSessions),
    () => all(deleteOldPersonal),
    () => deleteOldRecentWrites(db),
    () => all(deleteOldDeliveries),
    () => all(deleteOldEvents),
    () => all(deleteUnfinishedUploads, batchesAtOnce),
    () => all(deleteOldBatches, batchesAtOnce),
    () => all(wakeBatches),
    () => all(store.wakeExecutions),
    () => all(wakeSteps),
    () => all(wakeStops),
    () => advanceFarSchedules(db),
  ];
}
