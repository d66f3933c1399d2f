import { once } from 'node:events';
import { request } from 'node:http';
import pg from 'pg';
import type { OpenedCueline } from './contenders/cueline.ts';
import type { BenchEnvironment } from './environment.ts';

/**
 * Fills the queue: one execution is accepted through the API, the others are copies of its rows with new ids and queue
 * positions. No worker may be running.
 */
export async function fillQueue(
  environment: BenchEnvironment,
  opened: OpenedCueline,
  count: number,
): Promise<void> {
  await accept(opened.target);
  const client = new pg.Client(opened.connection);
  await client.connect();
  const records = await columnsOf(client, 'executions', ['id']);
  const queued = await columnsOf(client, 'execution_queue', ['id', 'tag']);
  await client.query(
    `with fresh as materialized (
       select uuidv7() as id, number from generate_series(1, ${count - 1}) as number),
     first as materialized (select id as first_id, tag as first_tag from execution_queue limit 1),
     made as (
       insert into executions (id, ${records})
       select fresh.id, ${records}
       from fresh, (select ${records} from executions join first on id = first_id) as record)
     insert into execution_queue (id, tag, ${queued})
     select fresh.id, first_tag + number, ${queued}
     from fresh, first, (select ${queued} from execution_queue join first on id = first_id) as place`,
  );
  await client.query('vacuum analyze executions');
  await client.query('vacuum analyze execution_queue');
  await client.end();
  await environment.ask('checkpoint');
}

async function columnsOf(client: pg.Client, table: string, but: string[]): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> all ($2)
     order by attnum`,
    [table, but],
  );
  return rows.map(({ name }) => name).join(', ');
}

async function accept({ host, port, path, headers, body }: OpenedCueline['target']) {
  const type = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const sent = request({ host, port, path, method: 'POST', headers: { ...headers, ...type } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  if (response.statusCode !== 202) throw new Error(`not accepted: ${response.statusCode}`);
}
