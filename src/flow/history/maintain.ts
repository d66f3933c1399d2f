import type { Db } from '../../store/connection/database.ts';
import * as store from '../../store/execution/maintenance.ts';
import { wakeSteps, wakeStops } from '../../store/workflow/workflow-steps.ts';
import { advanceFarSchedules } from '../workflow/advance-schedules.ts';
import { exhaust, inTurn } from './paced-transactions.ts';

const batchRows = 1_000;

/**
 * The small things of the house. Each batch is a transaction of its own, so nobody waits long. First what cannot wait for
 * ever: records of a month that was never made could not be moved to it later.
 */
export async function maintain(db: Db): Promise<void> {
  const all = (forget: (db: Db, limit: number) => Promise<number>) =>
    exhaust(batchRows, () => forget(db, batchRows));
  await inTurn([
    () => store.createPartitions(db),
    () => all(store.deleteExpiredIdempotencyKeys),
    () => all(store.deleteExpiredWorkflowIdempotencyKeys),
    () => store.deleteOldRefusals(db),
    () => store.deleteOldListCounts(db),
    () => store.deleteOldCancellations(db),
    () => all(store.wakeExecutions),
    () => all(wakeSteps),
    () => all(wakeStops),
    () => advanceFarSchedules(db),
  ]);
}
