import type { Db } from '../store/db.ts';
import type { Named } from '../store/named.ts';
import { batcher } from './batch.ts';

const namesMax = 1_000;
const readsInFlightMax = 2;

/**
 * Reads by name what each of many runs needs: all that ask while a read is under way share the next one, so that each
 * is told what stands there after it asked. Null where there is nothing of that name.
 */
export function readTogether<Row extends Named>(
  db: Db,
  find: (db: Db, asked: readonly Named[]) => Promise<Row[]>,
): (workspaceId: string, name: string) => Promise<Row | null> {
  const { add } = batcher<Named, Row | null>({
    sizeMax: namesMax,
    inFlightMax: readsInFlightMax,
    weight: ({ name }) => name.length,
    async run(asked) {
      const unique = new Map(asked.map((one) => [keyOf(one), one]));
      const rows = await find(db, [...unique.values()]);
      const found = new Map(rows.map((row) => [keyOf(row), row]));
      return asked.map((one) => found.get(keyOf(one)) ?? null);
    },
  });
  return (workspaceId, name) => add({ workspaceId, name });
}

function keyOf({ workspaceId, name }: Named): string {
  return `${workspaceId} ${name}`;
}
