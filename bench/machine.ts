import { describeMachine } from '../harness/output.ts';
import type { BenchEnvironment } from './environment.ts';

/** The hardware and the settings behind the figures. */
export async function machine(environment: BenchEnvironment): Promise<string[]> {
  const [row] = await environment.ask<Record<string, string>>(`
    select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('full_page_writes') as full_page_writes,
      current_setting('shared_buffers') as shared_buffers, current_setting('max_wal_size') as max_wal_size`);
  const { version, ...settings } = row ?? {};
  const pairs = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return [
    `${describeMachine()} Contenders, PostgreSQL and the load generator share it.`,
    `Node ${process.versions.node}. PostgreSQL ${version}: ${pairs.join(', ')}.`,
  ];
}
