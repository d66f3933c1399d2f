import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type SessionAttributes, splitDatabaseUrl } from '../core/database-url.ts';
import { StartupFailure } from '../core/startup-failure.ts';
import { checkRequirements } from './check-requirements.ts';
import { Client, type ClientConfig } from './client.ts';
import { isTemporaryRefusal, type Refusal } from './database-error.ts';
import { Servers } from './servers.ts';

const retryDelayMs = 500;
const reportEveryMs = 5_000;

export interface ConnectOptions {
  /** How long the server may take to start, for example after a reboot of the machine. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
  /** Called with the reason on the first failure, then every five seconds. */
  readonly onWait: (reason: string) => void;
}

/**
 * Parses `DATABASE_URL`. Throws a `StartupFailure` if it is unusable, for example if a certificate file is missing.
 * @param wanted which of several servers to use, unless the URL says
 */
export function parseDatabaseUrl(
  text: string,
  {
    name = 'DATABASE_URL',
    wanted = 'read-write',
  }: { name?: string; wanted?: SessionAttributes } = {},
): ClientConfig {
  const split = splitDatabaseUrl(text);
  if (!split) throw new StartupFailure(`${name} is invalid.`);
  const { url, servers, attributes } = split;
  const compatible = /[?&]uselibpqcompat=true(&|$)/.test(url);
  // pg treats these modes as verify-full too, but prints a long warning about a future version.
  const checked = url.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
  const connection = { connectionString: compatible ? url : checked };
  try {
    new pg.Client(connection);
  } catch (error) {
    throw new StartupFailure(`${name} is invalid: ${reasonOf(error as Error)}.`);
  }
  if (servers.length === 1 && attributes === null) return connection;
  return { ...connection, servers: new Servers(connection, servers, attributes ?? wanted) };
}

/**
 * Waits until the database accepts connections. Throws a `StartupFailure` if the database rejects the connection, does
 * not meet the requirements, or stays unreachable.
 */
export async function connectToDatabase(
  connection: ClientConfig,
  options: ConnectOptions,
): Promise<void> {
  const until = performance.now() + options.withinMs;
  let nextReportAt = 0;
  for (;;) {
    const refusal = await tryConnect(connection);
    if (refusal === null) return checkRequirements(connection);
    const reason = reasonOf(refusal);
    if (!isTemporaryRefusal(refusal)) throw new StartupFailure(explainRefusal(refusal, reason));
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
export async function tryConnect(connection: ClientConfig): Promise<Refusal | null> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
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

/** What to do about a rejected connection, by its code and message. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [
    /does not support SSL/,
    'set sslmode=disable in DATABASE_URL, or turn TLS on in the server (ssl = on)',
  ],
  [/^28P01/, 'check the user and the password in DATABASE_URL'],
  [/SASL|password must be a string/, 'DATABASE_URL must contain the password of its user'],
  [/no encryption/, 'add sslmode=require to DATABASE_URL, because the server requires TLS'],
  [/no pg_hba\.conf entry/, "allow this client in the server's pg_hba.conf"],
  [/^28000/, 'check the user in DATABASE_URL'],
  [/^3D000/, 'create it with createdb, or correct its name in DATABASE_URL'],
  [/^42501/, 'grant the role CONNECT on the database'],
  [
    /CERT|certificate/i,
    "add sslrootcert=FILE with the server's CA to DATABASE_URL, or sslmode=no-verify to skip the check",
  ],
];

function explainRefusal({ code = '', message }: Refusal, reason: string): string {
  const [, remedy] = remedies.find(([pattern]) => pattern.test(`${code} ${message}`)) ?? [];
  return `The database rejects the connection: ${reason}${remedy ? `; ${remedy}` : ''}.`;
}

/** A host name with several addresses fails with an `AggregateError` that has no message of its own. */
function reasonOf(refusal: Refusal): string {
  const inner = refusal instanceof AggregateError ? (refusal.errors[0] as Error) : refusal;
  return inner.message.replace(/\.$/, '') || String(refusal.code ?? 'no response');
}
