import type { Connection } from './connection.ts';

/**
 * The session settings that our statements rely on, sent on every connect: the role, the database or `options` in
 * `DATABASE_URL` may define others. A pooler accepts only those that it tracks, and `detectPooler` checks the others.
 */

/** Poolers know these and apply them to each transaction. */
const trackedSettings = {
  DateStyle: 'ISO',
  standard_conforming_strings: 'on',
  TimeZone: 'UTC',
};

/** Without these, statements fail or return something else. */
export const requiredSettings: Readonly<Record<string, string>> = {
  array_nulls: 'on',
  bytea_output: 'hex',
  default_transaction_isolation: 'read committed',
  exit_on_error: 'off',
  // Any value from 1 on means the shortest text that is exact.
  extra_float_digits: '1',
  gin_fuzzy_search_limit: '0',
  IntervalStyle: 'postgres',
  transform_null_equals: 'off',
};

/** Without these, waits for locks, exports and idle connections end early. */
const timeouts = { lock_timeout: '0', idle_session_timeout: '0' };

/**
 * The views of executions join many tables, so their estimated costs would have statements of a millisecond compiled for a
 * second. Behind a pooler the role should set it.
 */
export const fastSettings: Readonly<Record<string, string>> = { jit: 'off' };

const transactionTimeoutSince = 17;

export function sessionSettings({ pooled, serverVersion = 0 }: Connection): Record<string, string> {
  if (pooled) return trackedSettings;
  return {
    ...trackedSettings,
    ...requiredSettings,
    ...timeouts,
    ...fastSettings,
    // An older server rejects the connection because of it.
    ...(serverVersion >= transactionTimeoutSince && { transaction_timeout: '0' }),
  };
}
