import type { Db } from '../../db/database.ts';
import { listLiveOfAgent } from '../read/executions.ts';
import type { Canceler } from './cancel.ts';

const idsPerRound = 500;

/**
 * Cancels the executions of an agent that had not ended when it began: it walks their ids once, so executions that a member
 * starts in the dashboard meanwhile do not prolong it.
 */
export async function cancelRunningOf(
  deps: { readonly db: Db; readonly canceler: Canceler },
  agentId: string,
): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const ids: string[] = await listLiveOfAgent(deps.db, agentId, after, idsPerRound);
    if (ids.length === 0) return;
    await deps.canceler.cancelAll(ids);
    after = ids.at(-1) ?? null;
  }
}
