import { join } from 'node:path';
import { freshId } from '../../harness/fresh-id.ts';
import { sql } from '../../src/db/sql.ts';
import type { BenchEnvironment } from '../environment.ts';
import { serversDir, startServer } from '../server.ts';
import { type OpenedCueline, openCueline } from './cueline.ts';

/** Cueline in one process, with endpoints that subscribe to the ends of executions. */
export interface OpenedEndpoints extends OpenedCueline {
  /** The executions whose event has arrived since the last reset. */
  received(): Promise<number>;
  /** When the event of each arrived, as Unix time in milliseconds, by wire id. */
  arrivals(): Promise<Readonly<Record<string, number>>>;
}

export interface EndpointOptions {
  readonly name: string;
  /** False: another process holds the endpoints and sends nothing, so that only the writing of events is measured. */
  readonly sends: boolean;
  /** Further endpoints, which never answer. */
  readonly silent?: number;
}

export async function openEndpoints(
  environment: BenchEnvironment,
  { name, sends, silent = 0 }: EndpointOptions,
): Promise<OpenedEndpoints> {
  const receiver = await startServer({
    command: [join(serversDir, 'event-receiver.ts')],
    env: {},
    logFile: join(environment.directory, 'event-receiver.log'),
  });
  const env = { CUELINE_ALLOWED_HOSTS: '127.0.0.1' };
  const opened = await openCueline(environment, { name, roles: ['start'], env });
  const paths = ['/events', ...Array.from({ length: silent }, (_, at) => `/silent/${at}`)];
  for (const path of paths) await subscribe(opened, new URL(path, receiver.url).href);
  const holder = freshId();
  return {
    ...opened,
    async reset() {
      await opened.reset();
      await sql`truncate events, deliveries`.execute(opened.db);
      await fetch(receiver.url, { method: 'DELETE' });
      if (!sends) await holdEndpoints(opened, holder);
    },
    async received() {
      return Number(await (await fetch(new URL('/count', receiver.url))).text());
    },
    async arrivals() {
      return (await (await fetch(new URL('/arrivals', receiver.url))).json()) as Record<
        string,
        number
      >;
    },
    async close() {
      await opened.close();
      await receiver.stop();
    },
  };
}

async function subscribe({ target, key }: OpenedCueline, url: string): Promise<void> {
  const eventTypes = ['execution.succeeded', 'execution.failed', 'execution.canceled'];
  const response = await fetch(`http://${target.host}:${target.port}/api/v1/endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url, eventTypes }),
  });
  if (response.status !== 201) throw new Error(`no endpoint: ${await response.text()}`);
}

/** As a process that has not failed yet would; longer leases would be shortened. */
async function holdEndpoints({ db }: OpenedCueline, holder: string): Promise<void> {
  await sql`
    with holder as (
      insert into workers (id, lease_until) values (${holder}, clock_timestamp() + interval '100 seconds')
      on conflict (id) do update set lease_until = excluded.lease_until returning id)
    insert into endpoint_senders (endpoint_id, worker)
    select p.id, holder.id from endpoints p, holder
    on conflict (endpoint_id) do update set worker = excluded.worker`.execute(db);
}
