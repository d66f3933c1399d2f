import pg from 'pg';
import { type Table, whole } from '../table.ts';
import type { Fixture } from './fixture.ts';

/** The disk space per record, by part, of the long history and the other agents together. */
export async function sizes(fixtures: readonly Fixture[]): Promise<Table> {
  const columns = ['bytes per record'];
  const byPart = new Map<string, string[]>();
  for (const fixture of fixtures) {
    columns.push(`${whole(fixture.records)} + ${whole(fixture.records)}`);
    for (const { part, bytes } of await partsOf(fixture)) {
      byPart.set(part, [...(byPart.get(part) ?? []), whole(bytes)]);
    }
  }
  return {
    title: 'Disk space',
    columns,
    rows: [...byPart].map(([part, cells]) => [part, ...cells]),
    notes: [
      'The other 1,000 agents have as many records in total. With fewer records per agent, fewer of them share a row of the statistics.',
    ],
  };
}

async function partsOf({ connection }: Fixture): Promise<{ part: string; bytes: number }[]> {
  const client = new pg.Client(connection);
  await client.connect();
  const { rows } = await client.query<{ part: string; bytes: number }>(`
    with records as (select count(*) as count from executions),
    tables (part, oid) as (
      select 'executions', relid::oid from pg_partition_tree('executions') where isleaf
      union all values ('statistics', 'statistics'::regclass::oid), ('breakdown', 'breakdown'::regclass::oid)),
    parts as (
      select part || ', table' as part, pg_table_size(oid) - coalesce(pg_total_relation_size(nullif(
        (select reltoastrelid from pg_class c where c.oid = tables.oid), 0)), 0) as bytes from tables
      union all
      select part || ', TOAST', pg_total_relation_size(nullif(
        (select reltoastrelid from pg_class c where c.oid = tables.oid), 0)) from tables where part = 'executions'
      union all
      select part || ', index on ' || regexp_replace(pg_get_indexdef(i.indexrelid), '^.*USING ', ''),
        pg_relation_size(i.indexrelid)
      from tables join pg_index i on i.indrelid = tables.oid)
    select part, (sum(bytes) / (select count from records))::float8 as bytes from parts group by part
    union all
    select 'all', (sum(bytes) / (select count from records))::float8 from parts`);
  await client.end();
  const rest = rows.filter(({ part }) => part !== 'all');
  const order = ['executions', 'statistics', 'breakdown'];
  const rank = (part: string) => order.findIndex((name) => part.startsWith(name));
  rest.sort((a, b) => rank(a.part) - rank(b.part) || b.bytes - a.bytes);
  return [...rest, ...rows.filter(({ part }) => part === 'all')];
}
