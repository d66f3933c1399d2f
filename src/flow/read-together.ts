import type { Db } from '../store/db.ts';
import type { Named } from '../store/named.ts';
import { batcher } from './batch.ts';

/** Of those who share a read. */
const askersMax = 1_000;
/** A second one, so that one that hangs keeps nobody waiting for all of its time. */
const readsInFlightMax = 2;
/** What takes longer counts as a database that is away: on one connection that fell silent all others would wait. */
const readMsMax = 5_000;

/**
 * Reads by name what each of many runs needs: those that ask while a read is under way share the next one, a thousand at
 * a time, so that each is told what stands there after it asked. Null where there is nothing of that name.
 */
export function readTogether<Row extends Named>(
  db: Db,
  find: (db: Db, asked: readonly Named[]) => Promise<Row[]>,
  readMs = readMsMax,
): (workspaceId: string, name: string) => Promise<Row | null> {
  const { add } = batcher<Named, Row | null>({
    sizeMax: askersMax,
    inFlightMax: readsInFlightMax,
    weight: ({ name }) => name.length,
    async run(asked) {
      const unique = new Map(asked.map((one) => [keyOf(one), one]));
      const rows = await within(readMs, find(db, [...unique.values()]));
      const found = new Map(rows.map((row) => [keyOf(row), row]));
      return asked.map((one) => found.get(keyOf(one)) ?? null);
    },
  });
  return (workspaceId, name) => add({ workspaceId, name });
}

function keyOf({ workspaceId, name }: Named): string {
  return `${workspaceId} ${name}`;
}

async function within<T>(ms: number, read: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`not read within ${ms} ms`)), ms);
  try {
    return await Promise.race([read, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
