/** A primary from its promotion to the next one. */
export interface Primary {
  /** Identifies the database cluster; the same on all servers that replicate it. */
  readonly system: string;
  /** Each promotion begins a new one. */
  readonly timeline: number;
}

/** SQL: the columns of a `Primary`, from `pg_control_system()`. Fails on a standby. */
export const primaryColumns = `system_identifier::text as system,
  ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int as timeline`;
