import pg from 'pg';

/**
 * Everything about transaction poolers such as PgBouncer. Behind one, each transaction may run in another database session,
 * so session state is unreliable:
 *
 * - Statements have no names: a prepared statement may be missing in the next session.
 * - Clients send no timeouts on connect, because PgBouncer rejects them. The role may define timeouts.
 * - Nobody listens for notifications: they would arrive in a session that another client uses.
 *
 * Locks and settings are always limited to a transaction, with or without a pooler.
 */
export interface Connection extends pg.ClientConfig {
  /** Whether a transaction pooler is in between. Detected once, at startup. */
  readonly pooled?: boolean;
}

/**
 * Compares the session's process id with the one announced on connect. A pooler announces an invented id, because it does
 * not know yet which sessions it will use.
 */
export async function detectPooler(connection: pg.ClientConfig): Promise<Connection> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Present, although the types omit it.
    const { processID } = client as unknown as { processID: number | null };
    return rows[0]?.pid === processID ? connection : { ...connection, pooled: true };
  } finally {
    await client.end().catch(() => {});
  }
}
