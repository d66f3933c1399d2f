import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';
import type { Benchmark } from '../benchmark.ts';
import { openCueline } from '../contenders/cueline.ts';
import { finishAll } from '../measure.ts';
import { whole } from '../table.ts';

export const bytes: Benchmark = {
  name: 'bytes',
  description:
    'The database bytes of one ended execution with short texts. WAL from acceptance to end, measured right after a ' +
    'checkpoint, so it includes some full pages. Record and index entries after `vacuum full`. Longer inputs, prompts ' +
    'and outputs add their size; PostgreSQL compresses them beyond 2 kB.',
  byDefault: true,
  async run(environment, { requests, connections }) {
    const opened = await openCueline(environment, { name: 'Cueline', roles: ['start'] });
    try {
      const from = await walAt();
      const sample = await finishAll(environment, opened, { connections, requests });
      const wal = Number((await walAt()) - from);
      const written = await historyAsWritten(opened.db, requests);
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
          columns: ['bytes per execution', ''],
          rows: [
            ['WAL, accepted to ended', each(wal)],
            ['history as written, dead rows included', each(written.bytes)],
            ['record', each(size.records)],
            ['inputs, prompt and output in the record', each(size.bodies)],
            ['index entries', each(size.indexes)],
          ],
          notes: [
            `${whole(requests)} executions, ${whole(sample.perSecond)} per second. ` +
              `The database counts ${whole(written.updates)} updates of records.`,
          ],
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

/** Waits until all backends have reported their rows to PostgreSQL's statistics. */
async function historyAsWritten(db: Db, records: number) {
  for (;;) {
    const { rows } = await sql<{ bytes: number; inserts: number; updates: number }>`
      select sum(pg_total_relation_size(relid))::float8 as bytes,
        sum(pg_stat_get_tuples_inserted(relid))::float8 as inserts,
        sum(pg_stat_get_tuples_updated(relid))::float8 as updates
      from pg_partition_tree('executions') where isleaf`.execute(db);
    const [written] = rows;
    if (written && written.inserts >= records) return written;
    await delay(100);
  }
}
