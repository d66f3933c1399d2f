import { everything } from '../core/history.ts';
import { compact } from '../core/json.ts';
import { variableText } from '../core/variables.ts';
import type { Db } from '../store/db.ts';
import type { OpenErasure } from '../store/erasures.ts';
import { findRunsByInput, removeRuns } from '../store/workflow-removal.ts';
import type { Pace } from './in-turn.ts';

const lookedMax = 2_000;

/**
 * Deletes the runs of workflows whose input names the end user of an erasure, whatever agents they called. False where
 * some are left: they have not ended, or the round is over.
 */
export async function eraseRuns(db: Db, erasure: OpenErasure, pace: Pace): Promise<boolean> {
  let before: string | null = everything.toId;
  let left = false;
  while (before !== null) {
    const from: string = before;
    const look = await pace(() => findRunsByInput(db, erasure, { before: from, limit: lookedMax }));
    if (!look) return false;
    const ids = look.found
      .filter(({ text }) => text === null || variableText(compact(text)) === erasure.value)
      .map(({ id }) => id);
    if (ids.length > 0) left ||= ((await pace(() => removeRuns(db, ids))) ?? 0) < ids.length;
    before = look.downTo;
  }
  return !left;
}
