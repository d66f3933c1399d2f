import type { Db } from '../db/database.ts';
import { deleteOldRecentWrites } from '../db/recent-writes.ts';
import { deleteExpiredIdempotencyKeys } from '../engine/admit/idempotency.ts';
import { wakeSteps, wakeStops } from '../engine/advance/workflow-steps.ts';
import { deleteOldEvents } from '../engine/complete/events.ts';
import * as store from '../engine/run/maintenance.ts';
import { repeatWhileFull } from '../engine/transaction/paced-transactions.ts';
import { deleteOldBatches, wakeBatches } from '../features/batches/statements/due-batches.ts';
import { deleteUnfinishedUploads } from '../features/batches/statements/uploads.ts';
import { deleteOldDeliveries } from '../features/events/statements/deliveries.ts';
import { deleteOldPersonal } from '../features/people/statements/audit-statements.ts';
import { deleteOldInvitations } from '../features/people/statements/invitations.ts';
import { sweep as deleteOldAttempts } from '../features/people/statements/sign-in-attempts.ts';
import { deleteExpiredSessions } from '../features/people/statements/users.ts';
import { sweepDrafts } from '../features/prompts/statements/drafts.ts';
import { advanceFarSchedules } from '../features/workflows/verbs/advance-schedules.ts';

const batchRows = 1_000;
/** Each with up to 50,000 lines. */
const batchesAtOnce = 2;

/**
 * The jobs of periodic maintenance: partitions, expired rows, lost wake-ups. Each batch is a transaction of its own, so nobody
 * waits long. Partitions come first: records of a month without a partition could not be moved to it later.
 */
export function maintenanceJobs(db: Db): (() => Promise<unknown>)[] {
  let lastDraft: string | null = null;
  const all = (batch: (db: Db, limit: number) => Promise<number>, limit = batchRows) =>
    repeatWhileFull(limit, () => batch(db, limit));
  return [
    () => store.createPartitions(db),
    () => all(deleteExpiredIdempotencyKeys),
    () => store.deleteOldRefusals(db),
    () => all(store.deleteOldRefusalCounts),
    async () => {
      lastDraft = await sweepDrafts(db, lastDraft, batchRows);
    },
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
