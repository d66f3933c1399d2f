import pg from 'pg';
import { send } from './contenders/bare.ts';
import type { OpenedCueline } from './contenders/cueline.ts';
import type { BenchEnvironment } from './environment.ts';

/**
 * Fills the queue: the API accepts one execution, the others are copies of its row with new ids and queue positions. No
 * worker may be running.
 */
export async function fillQueue(
  environment: BenchEnvironment,
  opened: OpenedCueline,
  count: number,
): Promise<void> {
  await send(opened.target);
  const client = new pg.Client(opened.connection);
  await client.connect();
  const queued = await columnsOf(client, 'execution_queue', ['id', 'tag']);
  await client.query(
    `with fresh as materialized (
       select uuidv7() as id, number from generate_series(1, ${count - 1}) as number),
     first as materialized (select id as first_id, tag as first_tag from execution_queue limit 1)
     insert into execution_queue (id, tag, ${queued})
     select fresh.id, first_tag + number, ${queued}
     from fresh, first, (select ${queued} from execution_queue join first on id = first_id) as queued`,
  );
  await client.query('vacuum analyze execution_queue');
  await client.end();
  await environment.ask('checkpoint');
}

async function columnsOf(client: pg.Client, table: string, except: string[]): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> all ($2)
     order by attnum`,
    [table, except],
  );
  return rows.map(({ name }) => name).join(', ');
}
