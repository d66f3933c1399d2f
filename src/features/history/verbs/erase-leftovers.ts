import { namesValue } from '../../../core/history/erased-value.ts';
import { everything } from '../../../core/history/history-range.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { forgetLabelInOldEvents } from '../../../engine/complete/events.ts';
import type { RunPaced } from '../../../engine/transaction/paced-transactions.ts';
import { forgetLineIds, recordScannedLines, scanLines } from '../statements/erased-lines.ts';
import { type OpenErasure, recordScannedEvents } from '../statements/erasures.ts';

const eventsAtOnce = 2_000;
const { fromId: bottom } = everything;

/**
 * Erases what no record leads to: ids of lines without a record, and events that have the erased label and whose record is gone.
 * Yields after each step; returns false once the round must end.
 */
export async function* eraseLeftovers(
  db: Db,
  erasure: OpenErasure,
  runPaced: RunPaced,
): AsyncGenerator<void, boolean> {
  let { linesDownTo } = erasure;
  while (linesDownTo !== bottom) {
    const next = await runPaced(() => eraseLines(db, { ...erasure, linesDownTo }));
    if (next === undefined) return false;
    linesDownTo = next;
    yield;
  }
  if (erasure.label === null) return true;
  let downTo = erasure.eventsDownTo;
  while (downTo !== 0) {
    const from = downTo;
    const next = await runPaced(() => eraseEvents(db, erasure, from));
    if (next === undefined) return false;
    downTo = next;
    yield;
  }
  return true;
}

/** Returns the new position. */
async function eraseLines(db: Db, erasure: OpenErasure): Promise<string> {
  const scan = await scanLines(db, erasure);
  const downTo = scan.downTo ?? bottom;
  await forgetLineIds(
    db,
    scan.found.filter(({ id }) => namesValue(id, erasure.value)),
  );
  await recordScannedLines(db, erasure.id, downTo);
  return downTo;
}

/** Returns the new position; 0 at the end. */
function eraseEvents(db: Db, erasure: OpenErasure, from: number | null): Promise<number> {
  return inTransaction(db, async (trx) => {
    const page = { downTo: from, limit: eventsAtOnce };
    const downTo = (await forgetLabelInOldEvents(trx, erasure, page)) ?? 0;
    await recordScannedEvents(trx, erasure.id, downTo);
    return downTo;
  });
}
