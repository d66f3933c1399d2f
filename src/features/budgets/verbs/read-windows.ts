import { shownBucket } from '../../../core/budget/announce.ts';
import { budgetPeriod } from '../../../core/budget/budget.ts';
import { invalidRequest, requireFound } from '../../../core/failure.ts';
import { fromId } from '../../../core/id.ts';
import { isObject } from '../../../core/is-object.ts';
import { readClock } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { type BudgetRow, findBudget, findLimitSubject } from '../statements/budgets-statements.ts';
import { listWindows, type WindowPlace, type WindowRow } from '../statements/spent-windows.ts';

/** Pages of what the windows of a budget have spent. */

interface WindowsQuery {
  readonly bucket?: string;
  readonly cursor?: string;
  readonly limit: number;
}

export interface WindowsPage {
  readonly budget: BudgetRow;
  readonly windows: readonly WindowRow[];
  readonly nextCursor: string | null;
}

export async function readWindows(
  db: Db,
  workspaceId: string,
  budgetId: string,
  { bucket, cursor, limit }: WindowsQuery,
): Promise<WindowsPage> {
  const after = cursor === undefined ? null : readCursor(cursor);
  const budget = requireFound(await findBudget(db, workspaceId, budgetId), 'budget');
  const stored = bucket === undefined ? null : await storedBucket(db, workspaceId, budget, bucket);
  const found = await listWindows(db, budget, { bucket: stored, after, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const nextCursor = found.length > limit && last ? writeCursor(last.place) : null;
  const nowMs = await readClock(db);
  const windows = rows.map((row) => ({ ...row, bucket: shownBucket(budget, row.bucket) }));
  const isShared = budget.per === 'none';
  const only = bucket ?? (isShared ? '' : null);
  const isBucket = only !== null && (!isShared || only === '');
  if (!isBucket || after || windows.some((row) => isCurrent(row, nowMs))) {
    return { budget, windows, nextCursor };
  }
  return { budget, windows: [emptyWindow(budget, only, nowMs), ...windows], nextCursor };
}

function isCurrent({ windowEnd }: WindowRow, nowMs: number): boolean {
  return windowEnd === null || windowEnd.getTime() > nowMs;
}

/** The window of the next call: nothing was spent in it yet, and so no row exists. */
function emptyWindow(budget: BudgetRow, bucket: string, nowMs: number): WindowRow {
  const { period, createdAt, limitUsd } = budget;
  const { startMs, endMs } = budgetPeriod({ period, createdMs: createdAt.getTime() }, nowMs);
  return {
    ...{
      bucket,
      windowStart: new Date(startMs),
      windowEnd: endMs === null ? null : new Date(endMs),
    },
    ...{ settledUsd: '0', reservedUsd: '0', leftUsd: limitUsd, calls: 0, unknownCalls: 0 },
  };
}

/** Agents and keys are stored without their prefix. */
async function storedBucket(
  db: Db,
  workspaceId: string,
  { per }: BudgetRow,
  bucket: string,
): Promise<string> {
  if (bucket.includes('\0')) throw invalidRequest('Parameter "bucket" must not contain a NUL.');
  if (per === 'agent') return fromId('agent', bucket) ?? bucket;
  const keyId = per === 'key' ? fromId('key', bucket) : null;
  return (keyId && (await findLimitSubject(db, workspaceId, keyId))) ?? bucket;
}

function writeCursor(place: WindowPlace): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function readCursor(cursor: string): WindowPlace {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (isPlace(place)) return place;
  } catch {
    // No JSON.
  }
  throw invalidRequest('Parameter "cursor" must be the nextCursor of an earlier page.');
}

function isPlace(place: unknown): place is WindowPlace {
  if (!isObject(place)) return false;
  const { start, used, bucket } = place;
  return (
    typeof start === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00$/.test(start) &&
    isTime(start) &&
    typeof used === 'string' &&
    /^\d{1,20}(\.\d{1,20})?$/.test(used) &&
    typeof bucket === 'string' &&
    !bucket.includes('\0')
  );
}

/** The database refuses days that no calendar has. */
function isTime(start: string): boolean {
  const ms = Date.parse(start);
  return ms > 0 && new Date(ms).toISOString().slice(0, 19) === start.slice(0, 19);
}
