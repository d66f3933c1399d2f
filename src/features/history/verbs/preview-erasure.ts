import { everything } from '../../../core/history/history-range.ts';
import { uuid7Time } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { Db } from '../../../db/database.ts';
import {
  listExecutionsOfRuns,
  listReachedRuns,
  listRunsOfRecords,
} from '../statements/erased-runs.ts';
import { type ErasureInput, refuseUnstorable, requireErasable, scanRecords } from './erase.ts';
import { scanRuns } from './erase-workflow-runs.ts';

/** What an erasure would delete now. */
export interface ErasurePreview {
  /** With the executions that have not ended. */
  readonly records: number;
  /** Whether there may be older ones, which were not looked at. */
  readonly isLowerBound: boolean;
  /** When the oldest and the newest one were accepted; null without any. */
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Each step scans as much as one of an erasure. */
const stepsMax = 50;
const { fromId: bottom, toId: top } = everything;

/** Finds what an erasure would find, and deletes nothing. */
export async function previewErasure(
  db: Db,
  caller: Caller,
  { agentId: given, ...erased }: ErasureInput,
): Promise<ErasurePreview> {
  refuseUnstorable(erased);
  const agentId = await requireErasable(db, caller, given);
  const erasure = {
    ...erased,
    id: top,
    workspaceId: caller.workspaceId,
    agentId,
    requestedBy: null,
  };
  const ids = new Set<string>();
  const runIds = new Set<string>();
  const recordsDownTo = await scanDown(async (downTo) => {
    const scan = await scanRecords(db, { ...erasure, downTo });
    for (const id of scan.ids) ids.add(id);
    for (const runId of await listRunsOfRecords(db, scan.ids)) runIds.add(runId);
    return scan.downTo;
  });
  const runsDownTo =
    agentId !== null
      ? bottom
      : await scanDown(async (workflowRunsDownTo) => {
          const scan = await scanRuns(db, { ...erasure, workflowRunsDownTo });
          for (const runId of scan.ids) runIds.add(runId);
          return scan.downTo;
        });
  const reached = await listReachedRuns(db, [...runIds]);
  const ofRuns = await listExecutionsOfRuns(db, reached, executionsOfRunsMax);
  for (const id of ofRuns) ids.add(id);
  const isLowerBound =
    recordsDownTo !== bottom || runsDownTo !== bottom || ofRuns.length === executionsOfRunsMax;
  return { records: ids.size, isLowerBound, ...boundsOf(ids) };
}

const executionsOfRunsMax = 100_000;

/** Returns where it ended. */
async function scanDown(step: (downTo: string) => Promise<string>): Promise<string> {
  let downTo = top;
  for (let steps = 0; steps < stepsMax && downTo !== bottom; steps++) downTo = await step(downTo);
  return downTo;
}

function boundsOf(ids: ReadonlySet<string>): Pick<ErasurePreview, 'from' | 'to'> {
  let [from, to]: [string | null, string | null] = [null, null];
  for (const id of ids) {
    if (from === null || id < from) from = id;
    if (to === null || id > to) to = id;
  }
  const timeOf = (id: string | null) => (id === null ? null : new Date(uuid7Time(id)));
  return { from: timeOf(from), to: timeOf(to) };
}
