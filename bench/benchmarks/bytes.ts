import { sql } from 'kysely';
import type { Benchmark } from '../benchmark.ts';
import { openCueline } from '../contenders/cueline.ts';
import { finishAll } from '../measure.ts';
import { whole } from '../table.ts';

export const bytes: Benchmark = {
  name: 'bytes',
  description:
    'What one finished run with short texts costs the database in bytes: written to the WAL from its acceptance to its ' +
    'end (beginning right after a checkpoint, so a few whole pages are among them), and kept in its record and the two indexes over records, packed as after a ' +
    '`vacuum full`. Longer inputs, prompts and outputs come on top, compressed by PostgreSQL beyond 2 kB.',
  byDefault: true,
  async run(environment, { requests, connections }) {
    const opened = await openCueline(environment, { name: 'Cueline', roles: ['start'] });
    try {
      const from = await walAt();
      const sample = await finishAll(environment, opened, { connections, requests });
      const wal = Number((await walAt()) - from);
      await sql`vacuum full executions`.execute(opened.db);
      const { rows } = await sql<{ records: number; indexes: number; bodies: number }>`
        select sum(pg_table_size(p.relid)) as records, sum(pg_indexes_size(p.relid)) as indexes,
          (select sum(length(input_variables::text) + length(user_prompt) + length(output)) from executions)
            as bodies
        from pg_partition_tree('executions') p where p.isleaf`.execute(opened.db);
      const [size = { records: 0, indexes: 0, bodies: 0 }] = rows;
      const each = (total: number) => whole(total / requests);
      return [
        {
          columns: ['bytes each run', ''],
          rows: [
            ['WAL, accepted to ended', each(wal)],
            ['the record', each(size.records)],
            ['of that inputs, prompt and output', each(size.bodies)],
            ['its entries in the indexes', each(size.indexes)],
          ],
          notes: [`${whole(requests)} runs, ${whole(sample.perSecond)} a second.`],
        },
      ];
    } finally {
      await opened.close();
    }

    async function walAt(): Promise<bigint> {
      const [row] = await environment.ask<{ at: string }>(
        `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as at`,
      );
      return BigInt(row?.at ?? 0);
    }
  },
};
