import type { Db } from './database.ts';
import { type Primary, primaryColumns } from './primary.ts';
import { sql } from './sql.ts';

/** Positions in the write-ahead log, by which a standby tells how much of the primary it shows. */

export interface PrimaryPosition extends Primary {
  /** Everything committed before is at a lower position. */
  readonly position: number;
  readonly nowMs: number;
}

/** The clock is read first, so that the position covers everything committed before that time. */
export async function readPrimaryPosition(db: Db): Promise<PrimaryPosition | null> {
  const { rows } = await sql<PrimaryPosition>`
    with clock as materialized (select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms)
    select now_ms, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as position,
      ${sql.raw(primaryColumns)}
    from clock, pg_control_system() where not pg_is_in_recovery()`.execute(db);
  return rows[0] ?? null;
}

export interface StandbyPosition {
  /** Everything up to here is visible to later statements. */
  readonly position: number;
  /** The latest timeline that its control file names. It may be older than what it follows, never newer. */
  readonly timeline: number;
  readonly system: string;
}

/** Null if the server is no standby: it may be a former primary that nobody follows. */
export async function readStandbyPosition(db: Db): Promise<StandbyPosition | null> {
  const { rows } = await sql<StandbyPosition>`
    select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 as position,
      greatest(timeline_id, min_recovery_end_timeline) as timeline, system_identifier::text as system
    from pg_control_system(), pg_control_checkpoint(), pg_control_recovery()
    where pg_is_in_recovery()`.execute(db);
  return rows[0] ?? null;
}
