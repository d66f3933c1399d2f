import type { Db } from '../../../db/database.ts';
import { openSnapshot } from '../statements/records.ts';
import {
  findSessionHeads,
  hasSessions,
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
  const { after, limit, range } = request;
  const toId = after !== null && after < range.toId ? after : range.toId;
  const snapshot = await openSnapshot(db);
  try {
    if (!(await hasSessions(snapshot.trx, request)))
      return { rows: [], nextId: null, isShort: false };
    const list = { ...request, range: { ...range, toId }, after: null };
    const heads: SessionHead[] = [];
    const rest = await new HistoryScan(snapshot, list, pace).all(findSessionHeads, (found) => {
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
