import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import type { Span } from './calendar.ts';

/**
 * Creates the partitions of past months like `make_execution_partitions` and returns the names of
 * all partitions in the span. A month with rows in the default partition stays there.
 */
export async function createPartitions(db: Db, span: Span): Promise<string[]> {
  const names: string[] = [];
  for (const month of monthsOf(span)) {
    const name = `executions_${month.toISOString().slice(0, 7).replace('-', '_')}`;
    await createPartition(db, name, month);
    names.push(name);
  }
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${[...names, 'executions_default']}::text[]) as name
    where to_regclass(name) is not null`.execute(db);
  return rows.map((row) => row.name);
}

async function createPartition(db: Db, name: string, month: Date): Promise<void> {
  const from = month.toISOString();
  const to = nextMonth(month).toISOString();
  await db.transaction(async (trx) => {
    // Waiting behind a long read would block every other session.
    await sql`set local lock_timeout = '10s'`.execute(trx);
    // The bound of a partition cannot be a parameter, so the server formats it.
    await sql`
      select set_config('seed.partition', format(
        'create table if not exists %I partition of executions for values from (%L) to (%L)',
        ${name}::text, id_floor(${from}), id_floor(${to})), true)`.execute(trx);
    await sql`
      do $$ begin
        execute current_setting('seed.partition');
      exception when check_violation then
        raise warning 'executions of that month stay in the default partition';
      end $$`.execute(trx);
  });
}

function monthsOf({ fromMs, toMs }: Span): Date[] {
  const from = new Date(fromMs);
  const months: Date[] = [];
  let month = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth()));
  while (month.getTime() <= toMs) {
    months.push(month);
    month = nextMonth(month);
  }
  return months;
}

function nextMonth(month: Date): Date {
  return new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1));
}
