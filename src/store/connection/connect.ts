import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StartupFailure } from '../../core/startup-failure.ts';
import { isTemporaryRefusal, type Refusal } from './database-error.ts';

const versionMin = 15;
const retryDelayMs = 500;
const reportEveryMs = 5_000;

export interface ConnectOptions {
  /** How long the server may take to start, for example after a reboot of the machine. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
  /** Called with the reason on the first failure, then every five seconds. */
  readonly onWait: (reason: string) => void;
}

/** Parses `DATABASE_URL`. Throws a `StartupFailure` if it is unusable, for example if a certificate file is missing. */
export function parseDatabaseUrl(url: string): pg.ClientConfig {
  const compatible = /[?&]uselibpqcompat=true(&|$)/.test(url);
  // pg treats these modes as verify-full too, but prints a long warning about a future version.
  const checked = url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
  const connection = { connectionString: compatible ? url : checked };
  try {
    new pg.Client(connection);
  } catch (error) {
    throw new StartupFailure(`DATABASE_URL is invalid: ${reasonOf(error as Error)}.`);
  }
  return connection;
}

/**
 * Waits until the database accepts connections. Throws a `StartupFailure` if the database rejects the connection, does
 * not meet the requirements, or stays unreachable.
 */
export async function connectToDatabase(
  connection: pg.ClientConfig,
  options: ConnectOptions,
): Promise<void> {
  const until = performance.now() + options.withinMs;
  let nextReportAt = 0;
  for (;;) {
    const refusal = await tryConnect(connection);
    if (refusal === null) return checkRequirements(connection);
    const reason = reasonOf(refusal);
    if (!isTemporaryRefusal(refusal))
      throw new StartupFailure(`The database rejects the connection: ${reason}.`);
    const now = performance.now();
    if (now > until) throw new StartupFailure(`The database is unreachable: ${reason}.`);
    if (now > nextReportAt) {
      options.onWait(reason);
      nextReportAt = now + reportEveryMs;
    }
    await delay(retryDelayMs, undefined, { signal: options.signal });
  }
}

/** Opens and closes a connection. Returns null on success, else the error. */
export async function tryConnect(connection: pg.ClientConfig): Promise<Refusal | null> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return null;
  } catch (error) {
    return error as Refusal;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Throws if the server is too old or its encoding is not UTF8. */
async function checkRequirements(connection: pg.ClientConfig): Promise<void> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string; encoding: string }>(
      `select current_setting('server_version') as version, current_setting('server_encoding') as encoding`,
    );
    const { version = '', encoding = '' } = rows[0] ?? {};
    if (Number.parseInt(version, 10) < versionMin) {
      throw new StartupFailure(
        `The database is PostgreSQL ${version}; Cueline needs ${versionMin} or later.`,
      );
    }
    // Every other encoding lacks characters that a model may return.
    if (encoding !== 'UTF8') {
      throw new StartupFailure(
        `The database encoding is ${encoding}; Cueline needs UTF8. ` +
          'Create a database with "createdb --encoding=UTF8 --template=template0 NAME" and move existing data with pg_dump.',
      );
    }
  } finally {
    await client.end().catch(() => {});
  }
}

/** A host name with several addresses fails with an `AggregateError` that has no message of its own. */
function reasonOf(refusal: Refusal): string {
  const inner = refusal instanceof AggregateError ? (refusal.errors[0] as Error) : refusal;
  return inner.message.replace(/\.$/, '') || String(refusal.code ?? 'no response');
}
