import pg from 'pg';

/** Classifies the errors of PostgreSQL, of its driver and of the network. All error codes are listed here. */

/** A timeout of our own while waiting for the database. */
export class DatabaseUnavailable extends Error {}

/**
 * Whether the database is temporarily unavailable: it starts, stops, was promoted, has no capacity left, canceled a
 * connection, lock or statement, or is unreachable. Every other error is a bug of ours.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // Only three codes of class 25: read-only after a failover, and the two timeouts of idle or long transactions.
  if (/^((08|40|53|55|57)[0-9A-Z]{3}|25006|25P0[34])$/.test(code ?? '')) return true;
  if (
    /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)$/.test(code ?? '')
  )
    return true;
  // The unix socket of a local server. ENOENT for any other file is a bug of ours.
  if (code === 'ENOENT') return syscall === 'connect';
  return driverMessages.test(error.message);
}

/** Errors that the driver throws without a code. */
const driverMessages =
  /^(Connection terminated|timeout expired$|timeout exceeded when trying to connect$|Client .+ not queryable$)/;

/** The response to a TLS request is neither yes nor no: a server without capacity sends an error. */
const tlsInterrupted = 'There was an error establishing an SSL connection';

/** Whether the database rejected a statement, so that its transaction certainly did not commit. */
export function isStatementError(error: unknown): error is pg.DatabaseError {
  // Class 57P is a server shutdown, 08 a broken connection: both can interrupt a commit.
  return error instanceof pg.DatabaseError && !/^(57P|08)/.test(error.code ?? '');
}

/** Whether a deadlock or a serialization failure rolled the transaction back; a retry most likely succeeds. */
export function isTransactionRollback(error: unknown): boolean {
  return /^40/.test(sqlState(error));
}

/** Whether any other statement would fail too: the server lacks resources (53) or an operator intervened (57). */
export function isServerWideError(error: unknown): boolean {
  return /^5[37]/.test(sqlState(error));
}

/** Whether the server canceled the statement, most likely because of `statement_timeout`. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlState(error) === '57014';
}

/** Whether a statement can never succeed with these values. */
export function isUnstorable(error: unknown): error is pg.DatabaseError | RangeError {
  // Class 22: data, 23: constraints, 54: program limits. A string that exceeds the limit of JavaScript fails before it is sent.
  if (error instanceof pg.DatabaseError) return /^(22|23|54)/.test(error.code ?? '');
  return error instanceof RangeError;
}

/** Whether the database does not know the value of a parameter, such as a time zone. */
export function isInvalidParameter(error: unknown): boolean {
  return sqlState(error) === '22023';
}

/** Whether the role lacks a privilege. */
export function isPermissionDenied(error: unknown): error is pg.DatabaseError {
  return sqlState(error) === '42501';
}

/** Whether a lock timeout expired. */
export function isLockNotAvailable(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

/** Whether another transaction holds the lock: a lock timeout or a deadlock. */
export function isInUse(error: unknown): boolean {
  return isLockNotAvailable(error) || isTransactionRollback(error);
}

/** Whether the server has no room left for data. */
export function isDiskFull(error: unknown): boolean {
  return sqlState(error) === '53100';
}

/** Whether a statement names something that the schema does not have. Class 42 also has missing privileges. */
export function isOtherSchema(error: unknown): boolean {
  return /^42(?!501)/.test(sqlState(error));
}

/** The SQLSTATE of a write in a read-only session, as on a standby. */
export const readOnlyState = '25006';

/** Whether the server is a standby. */
export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === readOnlyState;
}

/** The error of a failed connection attempt. */
export type Refusal = Error & { readonly code?: string };

/**
 * Whether a later connection attempt may succeed: nobody listens, no response, no DNS name yet, or the server starts, stops
 * or has no free connection. A pooler reports 08P01 while it cannot reach its server.
 */
export function isTemporaryRefusal(refusal: Refusal): boolean {
  const { code, message } = refusal;
  if (refusal instanceof DatabaseUnavailable) return true;
  if (code === undefined) return driverMessages.test(message) || message === tlsInterrupted;
  if (/^(53300|57P0[123]|08P01)$/.test(code)) return true;
  return /^(E[A-Z]+|EAI_[A-Z]+)$/.test(code) && code !== 'EACCES';
}

/** The SQLSTATE of an error that PostgreSQL returned; else an empty string. */
function sqlState(error: unknown): string {
  return (error instanceof pg.DatabaseError && error.code) || '';
}
