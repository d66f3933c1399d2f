import type pg from 'pg';
import { levelMs } from '../src/core/history/statistics.ts';
import { countRows, writeBuckets } from './buckets.ts';
import type { Day } from './calendar.ts';
import { createDayTables } from './day-tables.ts';
import { makeRows, type Piece } from './made-rows.ts';
import type { Population } from './population.ts';
import { writeRecords } from './records.ts';
import { makeSnippets } from './snippets.ts';

/**
 * One day of records with its statistics, in one transaction: whatever interrupts it, the two agree. The database makes
 * the rows itself, which is several times faster than to send them.
 */

export interface Writing {
  readonly signal: AbortSignal;
  /** Told of rows that are under way, now and then. */
  readonly addRows: (count: number) => void;
}

export async function writeDay(
  client: pg.Client,
  day: Day,
  population: Population,
  { signal, addRows }: Writing,
): Promise<void> {
  const snippets = makeSnippets(rowsOf(day));
  await client.query('begin');
  try {
    await createDayTables(client, population, snippets);
    for (const piece of piecesOf(day)) {
      await makeRows(client, piece, { population, snippets: snippets.each });
      await countRows(client, population.nowMs - 2 * levelMs.day);
      addRows(await writeRecords(client));
      signal.throwIfAborted();
    }
    await writeBuckets(client);
    signal.throwIfAborted();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Whole hours, until they have so many rows: a statement takes a second or two, and can be ended by then. */
const pieceRows = 50_000;

function piecesOf({ hours, ownBefore, othersBefore }: Day): Piece[] {
  const pieces: Piece[] = [];
  let [own, others] = [ownBefore, othersBefore];
  let open: Piece | null = null;
  let rows = 0;
  for (const hour of hours) {
    if (!open || rows + hour.own + hour.others > pieceRows) {
      open = { hours: [], ownBefore: own, othersBefore: others };
      pieces.push(open);
      rows = 0;
    }
    open.hours.push(hour);
    own += hour.own;
    others += hour.others;
    rows += hour.own + hour.others;
  }
  return pieces.filter(({ hours }) => rowsOf({ hours }) > 0);
}

function rowsOf({ hours }: Pick<Day, 'hours'>): number {
  return hours.reduce((sum, hour) => sum + hour.own + hour.others, 0);
}
