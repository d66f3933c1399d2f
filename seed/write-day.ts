import type pg from 'pg';
import { levelMs } from '../src/core/history/statistics.ts';
import { countRows, writeBuckets } from './buckets.ts';
import type { Day } from './calendar.ts';
import { createDayTables } from './day-tables.ts';
import { generateRows, type Piece } from './generate-rows.ts';
import type { Population } from './population.ts';
import { writeRecords } from './records.ts';
import { makeSnippets } from './snippets.ts';

/**
 * Writes one day of records and its statistics in one transaction, so that they always agree. The
 * database generates the rows itself, which is several times faster than sending them.
 */

export interface Writing {
  readonly signal: AbortSignal;
  /** Called as rows are written. */
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
      await generateRows(client, piece, { population, snippets: snippets.each });
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

/**
 * A piece contains whole hours up to this number of rows. A statement takes one or two seconds,
 * which bounds the delay of an interruption.
 */
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
