import { StartupFailure } from '../core/startup-failure.ts';
import { Client, type ClientConfig } from './client.ts';
import type { Connection } from './connection.ts';
import { IdleConnections } from './idle-connections.ts';
import { fastSettings, requiredSettings } from './session-settings.ts';

/**
 * Everything about transaction poolers such as PgBouncer. Behind one, each transaction may run in another database session,
 * so session state is unreliable:
 *
 * - Statements have no names: a prepared statement may be missing in the next session.
 * - Clients send no timeouts on connect, because PgBouncer rejects them. The role may define timeouts.
 * - Nobody listens for notifications: they would arrive in a session that another client uses.
 * - Clients cannot send most settings, so those of the role must be right.
 *
 * Locks and settings are always limited to a transaction, with or without a pooler.
 */

/**
 * Compares the session's process id with the one announced on connect. A pooler announces an invented id, because it does
 * not know yet which sessions it will use. Throws a `StartupFailure` if its sessions have unusable settings.
 * @param onSlow gets what would make statements slow, and its remedy
 */
export async function detectPooler(
  given: ClientConfig,
  onSlow: (text: string) => void = () => {},
): Promise<Connection> {
  const connection = { ...given, idle: new IdleConnections() };
  const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number; version: number; role: string }>(
      `select pg_backend_pid() as pid, current_setting('server_version_num')::int / 10000 as version,
        quote_ident(current_user) as role`,
    );
    const { pid, version: serverVersion, role } = rows[0] ?? {};
    // Present, although the types omit it.
    const { processID } = client as unknown as { processID: number | null };
    if (pid === processID) return { ...connection, serverVersion };
    await checkSettings(client, role ?? '', onSlow);
    return { ...connection, serverVersion, pooled: true };
  } finally {
    await client.end().catch(() => {});
  }
}

async function checkSettings(
  client: Client,
  role: string,
  onSlow: (text: string) => void,
): Promise<void> {
  const wanted = { ...requiredSettings, ...fastSettings };
  const { rows } = await client.query<{ name: string; value: string }>(
    'select name, setting as value from pg_settings where name = any($1)',
    [Object.keys(wanted)],
  );
  for (const { name, value } of rows.filter((row) => !isUsable(row.name, row.value, wanted))) {
    const remedy = `be ${wanted[name]}, but is ${value}: run "ALTER ROLE ${role} SET ${name} = '${wanted[name]}'" and let the pooler reconnect.`;
    const setting = `Behind a transaction pooler the setting ${name} of the database role`;
    if (name in requiredSettings) throw new StartupFailure(`${setting} must ${remedy}`);
    onSlow(`${setting} should ${remedy}`);
  }
}

function isUsable(name: string, value: string, wanted: Record<string, string>): boolean {
  return name === 'extra_float_digits' ? Number(value) >= 1 : value === wanted[name];
}
