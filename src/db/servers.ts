import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Server, SessionAttributes } from '../core/database-url.ts';
import {
  DatabaseUnavailable,
  isStatementError,
  isTemporaryRefusal,
  type Refusal,
} from './database-error.ts';
import { type Primary, primaryColumns } from './primary.ts';

/**
 * Chooses among the servers of a database, because `pg` connects to a single one: all are asked at once, and the first one
 * that serves the wanted sessions is used until a connection to it fails or turns out to be read-only. A search is shared
 * by all connections that wait for it.
 *
 * A primary that was frozen while another one took over still accepts connections when it is resumed, and would answer reads
 * from the past. Timelines fence it off: each promotion begins a new one. Of several primaries the one with the highest
 * timeline is used, none with a lower one than was seen before, and connections to a replaced primary are aborted, also
 * those in use. A server that does not tell its timeline is not fenced.
 *
 * Rejected: asking in turn, as libpq does. A server that is lost without a trace would delay each connection by a timeout.
 */
export class Servers {
  readonly #connection: pg.ClientConfig;
  readonly #servers: readonly Server[];
  readonly #wanted: SessionAttributes;
  #known: FoundServer | null = null;
  #search: Promise<FoundServer> | null = null;
  /** The last primary that was found. */
  #primary: Primary | null = null;
  readonly #connections = new Map<FencedConnection, Primary>();

  /** @param connection of the first server; the others differ in host and port only */
  constructor(connection: pg.ClientConfig, servers: readonly Server[], wanted: SessionAttributes) {
    this.#connection = connection;
    this.#servers = servers;
    this.#wanted = wanted;
  }

  /** Throws `DatabaseUnavailable` if none serves the wanted sessions now. */
  async find(): Promise<FoundServer> {
    if (this.#known) return this.#known;
    this.#search ??= this.#probe().finally(() => {
      this.#search = null;
    });
    return this.#search;
  }

  /** A connection to this server failed, or it does not serve the wanted sessions any more. */
  forget(server: Server): void {
    if (this.#known?.server === server) this.#known = null;
  }

  accepts(session: Session): boolean {
    return accepts(this.#wanted, session);
  }

  /** The connection is aborted once another primary is found. False if that has happened already. */
  addConnection(connection: FencedConnection, primary: Primary | null): boolean {
    if (primary === null) return true;
    if (this.#isReplaced(primary)) return false;
    this.#connections.set(connection, primary);
    return true;
  }

  removeConnection(connection: FencedConnection): void {
    this.#connections.delete(connection);
  }

  async #probe(): Promise<FoundServer> {
    const sessions = this.#servers.map((server) => this.#sessionOf(server));
    try {
      this.#known = await this.#choose(sessions);
    } catch (error) {
      throw this.#refusal((error as AggregateError).errors as Refusal[]);
    }
    this.#fence(this.#known.primary);
    return this.#known;
  }

  #choose(sessions: readonly Promise<FoundSession>[]): Promise<FoundServer> {
    const matching = (wanted: SessionAttributes) =>
      sessions.map(async (asked, at): Promise<FoundServer> => {
        const { primary, ...session } = await asked;
        if (!accepts(wanted, session)) {
          throw new DatabaseUnavailable(session.standby ? 'is a standby' : unwanted(wanted));
        }
        if (this.#isReplaced(primary)) throw new DatabaseUnavailable('was replaced as the primary');
        return { server: this.#servers[at] as Server, primary };
      });
    switch (this.#wanted) {
      case 'read-write':
      case 'primary':
        return withHighestTimeline(matching(this.#wanted));
      case 'prefer-standby':
        return Promise.any(matching('standby')).catch(() => Promise.any(matching('any')));
      default:
        return Promise.any(matching(this.#wanted));
    }
  }

  /** Another database behind the same names, such as one after `pg_upgrade`, has timelines of its own. */
  #isReplaced(primary: Primary | null): boolean {
    const last = this.#primary;
    if (last === null || primary === null || last.system !== primary.system) return false;
    return primary.timeline < last.timeline;
  }

  #fence(primary: Primary | null): void {
    if (primary === null) return;
    this.#primary = primary;
    for (const [connection, of] of this.#connections) {
      const isCurrent = of.system === primary.system && of.timeline === primary.timeline;
      if (!isCurrent) connection.abort('another server is the primary now');
    }
  }

  async #sessionOf(server: Server): Promise<FoundSession> {
    const client = new pg.Client({
      ...this.#connection,
      connectionTimeoutMillis: askTimeoutMs,
      query_timeout: askTimeoutMs,
    });
    client.on('error', () => {});
    aim(client, server);
    try {
      await client.connect();
      const { rows } = await client.query<Session>({ text: readSession });
      const session = rows[0] ?? { standby: true, readOnly: true };
      return { ...session, primary: session.standby ? null : await readPrimary(client) };
    } finally {
      client.end().catch(() => {});
    }
  }

  /** One server that rejects the password is no reason to give up the others. */
  #refusal(errors: readonly Refusal[]): Error {
    const [first] = errors;
    if (first && !errors.some(isTemporaryRefusal)) return first;
    const reasons = errors.map((error, at) => {
      const { host, port } = this.#servers[at] as Server;
      return `${host}:${port} ${reasonOf(error)}`;
    });
    const purpose = this.#wanted === 'any' ? 'responds' : `serves ${this.#wanted} sessions`;
    return new DatabaseUnavailable(`none of the servers ${purpose} (${reasons.join('; ')})`);
  }
}

export interface FoundServer {
  readonly server: Server;
  /** Null for a standby, and if the server does not tell. */
  readonly primary: Primary | null;
}

export interface FencedConnection {
  /** Fails what is in flight; the connection is not used again. */
  abort(reason: string): void;
}

export interface Session {
  readonly standby: boolean;
  /** Whether its transactions are read-only. */
  readonly readOnly: boolean;
}

type FoundSession = Session & { readonly primary: Primary | null };

/** Lets a client that is not connected yet connect to this server. */
export function aim(client: pg.Client, { host, port }: Server): void {
  const target = client as unknown as { connectionParameters: { host: string; port: number } };
  Object.assign(client, { host, port });
  // The password file is searched by these.
  Object.assign(target.connectionParameters, { host, port });
}

const askTimeoutMs = 3_000;

const readSession = `
  select pg_is_in_recovery() as standby, current_setting('transaction_read_only')::boolean as "readOnly"`;

/** Null if the server does not tell, as some managed ones. */
async function readPrimary(client: pg.Client): Promise<Primary | null> {
  const text = `select ${primaryColumns} from pg_control_system()`;
  try {
    const { rows } = await client.query<Primary>({ text });
    return rows[0] ?? null;
  } catch (error) {
    if (isStatementError(error)) return null;
    throw error;
  }
}

/** The one with the highest timeline of those that answer soon after the first. Fails like `Promise.any` if nothing is found. */
async function withHighestTimeline(
  searches: readonly Promise<FoundServer>[],
): Promise<FoundServer> {
  let best = await Promise.any(searches);
  const others = searches.map(async (search) => {
    const found = await search.catch(() => null);
    if (found && timelineOf(found) > timelineOf(best)) best = found;
  });
  const waiting = new AbortController();
  const { signal } = waiting;
  const wait = delay(otherServersWaitMs, undefined, { signal }).catch(() => {});
  await Promise.race([Promise.all(others), wait]);
  waiting.abort();
  return best;
}

const otherServersWaitMs = 250;

function timelineOf({ primary }: FoundServer): number {
  return primary?.timeline ?? 0;
}

function accepts(wanted: SessionAttributes, { standby, readOnly }: Session): boolean {
  switch (wanted) {
    case 'read-write':
      return !standby && !readOnly;
    case 'read-only':
      return standby || readOnly;
    case 'primary':
      return !standby;
    case 'standby':
      return standby;
    default:
      return true;
  }
}

function unwanted(wanted: SessionAttributes): string {
  return wanted === 'read-write' ? 'is read-only' : 'is no standby';
}

function reasonOf(refusal: Refusal): string {
  const inner = refusal instanceof AggregateError ? (refusal.errors[0] as Error) : refusal;
  return inner.message.replace(/\.$/, '') || String(refusal.code ?? 'no response');
}
