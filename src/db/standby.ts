import type { Db } from './database.ts';
import { isStatementTimeout, isUnavailable } from './database-error.ts';
import { type Primary, primaryColumns } from './primary.ts';
import { hasRecentWrite, markRecentWrite } from './recent-writes.ts';
import { sql } from './sql.ts';

/**
 * Reads of the history from a standby.
 *
 * The age of what a standby shows is measured by positions, not by its clock: this process samples the position of the
 * primary every half second, and the standby shows at least the newest sample that it has replayed. An idle primary
 * therefore does not look like a lag, and a standby that lost its primary does.
 *
 * Invariants
 * - The position is read on the connection that the read uses: a URL may lead to several standbys.
 * - A caller that wrote within the lag limit reads from the primary. Its mark is committed before it gets its response,
 *   lasts for twice the limit and is repeated after the limit, so a caller costs one write per limit and process.
 * - After a failover, samples of the old timeline are void, and a standby is read again once its control file names the new
 *   timeline: it may have records that the new primary never received.
 *
 * Failure cases: the standby is behind, unreachable, or cancels the read because of a conflict with recovery; then the
 * primary serves it. After a failure the standby is left alone for five seconds.
 */
export interface Standby {
  /** Whether the standby may serve this caller. */
  mayServe(writer: string): Promise<boolean>;
  /**
   * Runs `work` on a standby. Null if none is current enough, or it failed: then the primary must serve it.
   * @param work calls `check` on the connection that it reads from, before it reads
   */
  read<T>(work: (check: StandbyCheck) => Promise<T>): Promise<StandbyRead<T> | null>;
  /** The time of the primary; null until it was sampled. */
  primaryTime(): Date | null;
  /** Records a write of the caller, before its response. */
  recordWrite(writer: string): Promise<void>;
  stop(): void;
}

/** Throws if the standby behind this connection is not current enough. */
export type StandbyCheck = (db: Db) => Promise<void>;

export interface StandbyRead<T> {
  readonly value: T;
  /** What was committed before is included. */
  readonly asOf: Date;
}

export interface StandbyDeps {
  /** The primary, for marks of writes. */
  readonly db: Db;
  /** One connection to the primary for samples, so that nothing delays them. */
  readonly sampleDb: Db;
  readonly lagMsMax: number;
  readonly onError: (error: unknown) => void;
}

interface Sample extends PrimaryPosition {
  /** When it was requested, on the monotonic clock. */
  readonly at: number;
}

const sampleMs = 500;
const suspendedMs = 5_000;
/** Of the writers that this process remembers. */
const writersMax = 10_000;

/** The standby is too old or not the right one. */
class NotCurrent extends Error {}

export function createStandby({ db, sampleDb, lagMsMax, onError }: StandbyDeps): Standby {
  const samples = startSamples(sampleDb, lagMsMax);
  /** Until when a mark lasts, on the monotonic clock. */
  const marks = new Map<string, number>();
  let suspendedUntil = 0;

  async function reached(standby: Db): Promise<Sample> {
    const found = await readStandbyPosition(standby);
    const sample = found && samples.newest((one) => one.position <= found.position);
    const isFollower =
      sample && sample.system === found.system && sample.timeline <= found.timeline;
    if (!isFollower || performance.now() - sample.at > lagMsMax) throw new NotCurrent();
    return sample;
  }

  return {
    async mayServe(writer) {
      if (performance.now() < suspendedUntil) return false;
      if ((marks.get(writer) ?? 0) > performance.now()) return false;
      return !(await hasRecentWrite(db, writer));
    },
    async read(work) {
      let asOfMs = Number.NaN;
      try {
        const value = await work(async (connection) => {
          asOfMs = (await reached(connection)).nowMs;
        });
        return { value, asOf: new Date(asOfMs) };
      } catch (error) {
        if (error instanceof NotCurrent) return null;
        if (!isUnavailable(error) || isStatementTimeout(error)) throw error;
        suspendedUntil = performance.now() + suspendedMs;
        onError(error);
        return null;
      }
    },
    primaryTime: () => samples.now(),
    async recordWrite(writer) {
      const now = performance.now();
      if ((marks.get(writer) ?? 0) - now >= lagMsMax) return;
      marks.delete(writer);
      marks.set(writer, now + 2 * lagMsMax);
      for (const oldest of marks.keys()) {
        if (marks.size <= writersMax) break;
        marks.delete(oldest);
      }
      try {
        await markRecentWrite(db, writer, 2 * lagMsMax);
      } catch (error) {
        // The write itself succeeded. The next write tries again.
        onError(error);
        marks.set(writer, now + lagMsMax);
      }
    },
    stop: () => samples.stop(),
  };
}

/** Samples the position of the primary. */
function startSamples(db: Db, lagMsMax: number) {
  let samples: Sample[] = [];
  let sampling = false;

  async function sample(): Promise<void> {
    if (sampling) return;
    sampling = true;
    const at = performance.now();
    try {
      const found = await readPrimaryPosition(db);
      const last = samples.at(-1);
      // A new primary may lack what the old one had.
      if (last && (found?.timeline !== last.timeline || found.system !== last.system)) samples = [];
      if (found) samples.push({ ...found, at });
      const oldest = at - lagMsMax - sampleMs;
      while (samples[0] && samples[0].at < oldest) samples.shift();
    } catch {
      // It may have failed over. Every other use of the primary reports its loss.
      samples = [];
    } finally {
      sampling = false;
    }
  }

  const timer = setInterval(() => void sample(), Math.min(sampleMs, lagMsMax / 4));
  timer.unref();
  void sample();
  return {
    newest: (isReached: (sample: Sample) => boolean) => samples.findLast(isReached) ?? null,
    now(): Date | null {
      const last = samples.at(-1);
      return last ? new Date(last.nowMs + performance.now() - last.at) : null;
    },
    stop: () => clearInterval(timer),
  };
}

interface PrimaryPosition extends Primary {
  /** Everything committed before is at a lower position. */
  readonly position: number;
  readonly nowMs: number;
}

/** The clock is read first, so that the position covers everything committed before that time. */
async function readPrimaryPosition(db: Db): Promise<PrimaryPosition | null> {
  const { rows } = await sql<PrimaryPosition>`
    with clock as materialized (select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms)
    select now_ms, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as position,
      ${sql.raw(primaryColumns)}
    from clock, pg_control_system() where not pg_is_in_recovery()`.execute(db);
  return rows[0] ?? null;
}

interface StandbyPosition {
  /** Everything up to here is visible to later statements. */
  readonly position: number;
  /** The latest timeline that its control file names. It may be older than what it follows, never newer. */
  readonly timeline: number;
  readonly system: string;
}

/** Null if the server is no standby: it may be a former primary that nobody follows. */
async function readStandbyPosition(db: Db): Promise<StandbyPosition | null> {
  const { rows } = await sql<StandbyPosition>`
    select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::float8 as position,
      greatest(timeline_id, min_recovery_end_timeline) as timeline, system_identifier::text as system
    from pg_control_system(), pg_control_checkpoint(), pg_control_recovery()
    where pg_is_in_recovery()`.execute(db);
  return rows[0] ?? null;
}
