import pg from 'pg';

/**
 * All that is known of transaction poolers, such as PgBouncer. Behind one, each transaction may run on another session
 * of the database, and nothing that belongs to a session can be relied on:
 *
 * - Statements are sent without names: a prepared one would be missing in the next session.
 * - Timeouts are not asked for at the start of a connection (PgBouncer refuses it for them); the role may have some.
 * - Nobody listens for hints: they would arrive in a session that somebody else has by then.
 *
 * Locks and settings are those of a transaction everywhere, pooler or not.
 */
export interface Connection extends pg.ClientConfig {
  /** Whether a pooler stands between; found out once, when a process starts. */
  readonly pooled?: boolean;
}

/**
 * Looks whether the session that answers is the one that the connection was told of at its start: a pooler makes up a
 * number there, since it does not know yet which sessions it will use.
 */
export async function detectPooler(connection: pg.ClientConfig): Promise<Connection> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // Known to be there, though the types do not say so.
    const { processID } = client as unknown as { processID: number | null };
    return rows[0]?.pid === processID ? connection : { ...connection, pooled: true };
  } finally {
    await client.end().catch(() => {});
  }
}
