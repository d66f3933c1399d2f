import type { Db } from '../../src/db/database.ts';
import { type Sql, sql } from '../../src/db/sql.ts';

/** Fingerprints of the tables, to detect whether a call changed anything. */
export interface Fingerprints {
  /** All rows, by table and transaction id: every write changes it. */
  all(): Promise<Fingerprint>;
  /** The rows outside the other workspace, by content. */
  ours(): Promise<Fingerprint>;
}

export type Fingerprint = Readonly<Record<string, string>>;

/** Tables that refused calls also write, and the process table. A new table is checked unless it is listed here. */
const excluded = [
  'limits',
  'list_counts',
  'refusals',
  'refusal_counts',
  'statistics',
  'breakdown',
  'sign_in_attempts',
  'webhook_log',
  'workers',
];
/** Only some rows or columns of these tables are checked. */
const partial = ['executions', 'api_keys'];

const sum = (hash: Sql) => sql`count(*) || ':' || coalesce(sum(${hash}), 0)`;
const text = sql`(to_jsonb(t) - 'last_used_at')::text`;

export async function fingerprints(db: Db, elsewhereId: string): Promise<Fingerprints> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> all (${[...excluded, ...partial]}::text[]) order by relname`.execute(db);
  const names = tables.map(({ name }) => name);
  const each = (name: string, value: Sql, from: Sql) =>
    sql`select ${name} as name, ${value} as value from ${from}`;
  const all = [
    ...names.map((name) => each(name, sum(sql`xmin::text::int8`), sql.table(name))),
    each('api_keys', sum(sql`hashtextextended(${text}, 0)`), sql`api_keys t`),
    each(
      'executions',
      sum(sql`xmin::text::int8`),
      sql`executions where status not in ('unauthorized', 'rate_limited')`,
    ),
    each('AI Actions', sum(sql`month_used`), sql`limits`),
  ];
  const ours = [...names, 'api_keys'].map((name) => {
    const rows = sql`(select ${text} as text from ${sql.table(name)} t offset 0) texts
      where text not like ${`%${elsewhereId}%`}`;
    return each(name, sum(sql`hashtextextended(text, 0)`), rows);
  });
  const ask = (parts: Sql[]) => {
    const query = sql<{ name: string; value: string }>`${sql.join(parts, sql` union all `)}`;
    return async () => {
      const { rows } = await query.execute(db);
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    };
  };
  return { all: ask(all), ours: ask(ours) };
}

/** The tables that differ. */
export function changed(before: Fingerprint, after: Fingerprint): string[] {
  return Object.keys(after).filter((name) => before[name] !== after[name]);
}
