import type { Send } from '../../store/connection/pipeline.ts';
import type { WorkflowRunStepState } from '../../store/workflow/workflow-progress.ts';
import {
  type MissingValues,
  type ReadValues,
  readItems,
  readValues,
  weighValues,
} from '../../store/workflow/workflow-progress-read.ts';
import { ItemFault } from '../admission/retry-transaction.ts';

/** Reading what runs lack, and how much those of one transaction may hold. */

/** In characters, read and made ready: it is in memory until their end is written, and the others wait for that. */
const togetherCharsMax = 33_554_432;

/** Told of what the runs of one transaction hold; what one of them may hold alone is bounded by its definition. */
export type Hold = (chars: number) => void;

export function createCharBudget(): Hold {
  let held = 0;
  return (chars) => {
    held += chars;
    if (held > togetherCharsMax) {
      throw new ItemFault('these runs hold too much to go on together');
    }
  };
}

export interface ReadOfRun extends ReadValues {
  readonly rows: readonly WorkflowRunStepState[];
}

/**
 * Values of all runs at once, where there are others only once it is known that these are not too long; of lists that are
 * complete the next items.
 */
export async function loadMissingValues(
  send: Send,
  asked: readonly MissingValues[],
  hold: Hold | null,
): Promise<ReadOfRun[]> {
  const ofValues = asked.filter(({ unread: { input, outputs, lists } }) => {
    return input || outputs.length + lists.length > 0;
  });
  if (hold && ofValues.length > 0) hold(await weighValues(send, ofValues, togetherCharsMax));
  const values = await Promise.all(asked.map((one) => readValues(send, one)));
  const read: ReadOfRun[] = [];
  for (const [at, of] of values.entries()) {
    const rows: WorkflowRunStepState[] = [];
    const { runId, unread } = asked[at] as MissingValues;
    for (const items of unread.items) {
      const next = await readItems(send, runId, items);
      hold?.(next.reduce((sum, { output }) => sum + (output?.length ?? 0), 0));
      rows.push(...next);
    }
    read.push({ ...of, rows });
  }
  return read;
}
