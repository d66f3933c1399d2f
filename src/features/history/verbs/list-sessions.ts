import { before } from '../../../core/history/history-range.ts';
import type { Db } from '../../../db/database.ts';
import { openSnapshot } from '../statements/records.ts';
import {
  findSessionHeads,
  readSessions,
  type SessionHead,
  type SessionRow,
} from '../statements/session-records.ts';
import type { ListRequest } from './history-page.ts';
import { defaultPace, HistoryScan, type SearchPace } from './scan-history.ts';

/**
 * Lists sessions by their newest record. Records are scanned newest first: one is the first of its session if the index of
 * sessions has no newer one. The work does not grow with the number of sessions. Where few records have a session, a page
 * that is not full in time is returned short.
 */
export interface SessionPage {
  readonly rows: readonly SessionRow[];
  /** Where the next page starts; null if there is none. */
  readonly nextId: string | null;
  /** Whether the page is short because of its time. */
  readonly isShort: boolean;
}

export async function listSessions(
  db: Db,
  request: ListRequest,
  pace: SearchPace = defaultPace,
): Promise<SessionPage> {
  const { after, limit } = request;
  const snapshot = await openSnapshot(db);
  try {
    const scan = new HistoryScan(snapshot, request, pace);
    const { ranges } = await scan.candidates();
    const heads: SessionHead[] = [];
    const from = after === null ? ranges : ranges.flatMap((one) => before(after, one));
    const rest = await scan.each(from, findSessionHeads, (found) => {
      heads.push(...found);
      return heads.length > limit ? 0 : Number.POSITIVE_INFINITY;
    });
    const shown = heads.slice(0, limit);
    const rows = await readSessions(snapshot.trx, request, shown);
    if (heads.length > limit) return { rows, nextId: shown.at(-1)?.id ?? null, isShort: false };
    const nextId = rest[0]?.toId ?? null;
    return { rows, nextId, isShort: nextId !== null };
  } finally {
    await snapshot.close();
  }
}
