import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StartupFailure } from '../../core/startup-failure.ts';
import { isTemporaryRefusal, type Refusal } from './database-error.ts';

const versionMin = 15;
const pauseMs = 500;
const everyWordMs = 5_000;

export interface ConnectOptions {
  /** How long a server may take to come up, as after a start of the whole machine. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
  /** Told at first and then every five seconds what stands in the way. */
  readonly onWait: (reason: string) => void;
}

/** What `DATABASE_URL` says; throws a `StartupFailure` where that cannot be used, as with a certificate that is not there. */
export function parseDatabaseUrl(url: string): pg.ClientConfig {
  const compatible = /[?&]uselibpqcompat=true(&|$)/.test(url);
  // pg does the same with them, and warns in many lines that another version may do less.
  const checked = url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
  const connection = { connectionString: compatible ? url : checked };
  try {
    new pg.Client(connection);
  } catch (error) {
    throw new StartupFailure(`DATABASE_URL cannot be used: ${reasonOf(error as Error)}.`);
  }
  return connection;
}

/** Waits until the database answers; throws a `StartupFailure` where it refuses us, cannot serve us, or stays away. */
export async function reach(connection: pg.ClientConfig, options: ConnectOptions): Promise<void> {
  const until = performance.now() + options.withinMs;
  let wordAt = 0;
  for (;;) {
    const refusal = await knock(connection);
    if (refusal === null) return requireFit(connection);
    const reason = reasonOf(refusal);
    if (!isTemporaryRefusal(refusal))
      throw new StartupFailure(`The database refuses the connection: ${reason}.`);
    const now = performance.now();
    if (now > until) throw new StartupFailure(`The database cannot be reached: ${reason}.`);
    if (now > wordAt) {
      options.onWait(reason);
      wordAt = now + everyWordMs;
    }
    await delay(pauseMs, undefined, { signal: options.signal });
  }
}

/** Opens a connection and closes it; `null` where that worked, else what stood against it. */
export async function knock(connection: pg.ClientConfig): Promise<Refusal | null> {
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

/** One that is too old, or cannot hold every text. */
async function requireFit(connection: pg.ClientConfig): Promise<void> {
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
    // Any other lacks letters: what a model answers with one of them could not be written down.
    if (encoding !== 'UTF8') {
      throw new StartupFailure(
        `The encoding of the database is ${encoding}; Cueline needs UTF8. ` +
          'Make one with "createdb --encoding=UTF8 --template=template0 NAME", and move there what you have with pg_dump.',
      );
    }
  } finally {
    await client.end().catch(() => {});
  }
}

/** A name that resolves to several addresses fails with an error that holds one for each, and no text. */
function reasonOf(refusal: Refusal): string {
  const inner = refusal instanceof AggregateError ? (refusal.errors[0] as Error) : refusal;
  return inner.message.replace(/\.$/, '') || String(refusal.code ?? 'no answer');
}
