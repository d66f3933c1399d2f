import pg from 'pg';

/** What errors of PostgreSQL, of its driver and of the way to it mean: the one place where their codes and words stand. */

/** Thrown where we ourselves stop waiting for the database. */
export class DatabaseUnavailable extends Error {}

/**
 * Whether the database cannot be had just now: it starts, stops, was promoted, is full, or gave up a connection, a lock or a
 * statement; or nobody answers where it should be. Everything else that is thrown is a fault of ours.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // Of class 25 only these: read-only after a failover, and connections given up since they lay idle or took too long.
  if (/^((08|40|53|55|57)[0-9A-Z]{3}|25006|25P0[34])$/.test(code ?? '')) return true;
  if (
    /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)$/.test(code ?? '')
  )
    return true;
  // The socket of a server on this machine, which is a file; any other file that is not there is one of ours.
  if (code === 'ENOENT') return syscall === 'connect';
  return driverWords.test(error.message);
}

/** What the driver says without a code. */
const driverWords =
  /^(Connection terminated|timeout expired$|timeout exceeded when trying to connect$|Client .+ not queryable$)/;

/** Whether the database itself refused a statement, so that its transaction certainly did not commit. */
export function isStatementError(error: unknown): error is pg.DatabaseError {
  // Class 57P is the server shutting down, 08 a broken connection: both can hit a commit under way.
  return error instanceof pg.DatabaseError && !/^(57P|08)/.test(error.code ?? '');
}

/** Whether a transaction fell to a deadlock or a serialization failure, and most likely will not again. */
export function isTransactionRollback(error: unknown): boolean {
  return /^40/.test(refusalCode(error));
}

/** Whether any statement would be refused the same: the database has no room (53), or gave it up or is going down (57). */
export function isServerWideError(error: unknown): boolean {
  return /^5[37]/.test(refusalCode(error));
}

/** Whether the database gave a statement up, most likely since it took longer than any may. */
export function isStatementTimeout(error: unknown): boolean {
  return refusalCode(error) === '57014';
}

/** Whether a statement cannot be carried out with these values, whoever tries and however often. */
export function isUnstorable(error: unknown): error is pg.DatabaseError | RangeError {
  // Class 22 are values, 23 constraints, 54 limits of the program; a text too long for us fails before it is sent.
  if (error instanceof pg.DatabaseError) return /^(22|23|54)/.test(error.code ?? '');
  return error instanceof RangeError;
}

/** Whether the database does not know what a parameter names, such as a time zone. */
export function isInvalidParameter(error: unknown): boolean {
  return refusalCode(error) === '22023';
}

/** Whether a lock was not had in time. */
export function isLockNotAvailable(error: unknown): boolean {
  return refusalCode(error) === '55P03';
}

/** Whether others hold what was to be locked: not had in time, or each had what the other needed. */
export function isInUse(error: unknown): boolean {
  return isLockNotAvailable(error) || isTransactionRollback(error);
}

/** Whether the server is a standby, or was made one. */
export function isReadOnly(error: unknown): boolean {
  return refusalCode(error) === '25006';
}

/** What stood against a connection. */
export type Refusal = Error & { readonly code?: string };

/**
 * Whether a connection that was refused may be had later: nobody there, no answer, no name yet, or a server that starts,
 * stops or is full. 08P01 is what a pooler says while it does not reach its server.
 */
export function isTemporaryRefusal({ code }: Refusal): boolean {
  if (code === undefined || /^(53300|57P0[123]|08P01)$/.test(code)) return true;
  return /^(E[A-Z]+|EAI_[A-Z]+)$/.test(code) && code !== 'EACCES';
}

/** What PostgreSQL itself refused a statement with; empty for everything else. */
function refusalCode(error: unknown): string {
  return (error instanceof pg.DatabaseError && error.code) || '';
}
