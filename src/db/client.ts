import pg from 'pg';
import type { Server } from '../core/database-url.ts';
import { DatabaseUnavailable, readOnlyState } from './database-error.ts';
import type { IdleConnections } from './idle-connections.ts';
import { aim, type FencedConnection, type Servers } from './servers.ts';

export interface ClientConfig extends pg.ClientConfig {
  /** Sent as startup parameters, which take precedence over the settings of the role, the database and `options`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Which servers to choose from; without them it connects to `host`. */
  readonly servers?: Servers;
  readonly idle?: IdleConnections;
}

/**
 * A connection whose session settings are its own, whatever the role or database defines, and which finds the primary.
 *
 * A response that the session is read-only means that another server is the primary now: the connection is not used again,
 * and idle connections are closed.
 */
export class Client extends pg.Client implements FencedConnection {
  readonly #config: ClientConfig;
  #server: Server | null = null;
  #readOnly = false;

  constructor(config: ClientConfig = {}) {
    super(config);
    this.#config = config;
    const connection = (this as unknown as { connection: NodeJS.EventEmitter }).connection;
    connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === readOnlyState) this.#foundReadOnly();
    });
    connection.on('notice', ({ routine }: { routine?: string }) => {
      if (routine === 'SyncRepWaitForLSN') this.#failCommit();
    });
    if (config.servers) this.on('error', () => this.#forgetServer());
  }

  /** Whether it must not be used again. */
  get isReadOnly(): boolean {
    return this.#readOnly;
  }

  /** Fails what is in flight; the connection is not used again. */
  abort(reason: string): void {
    const { connection } = this as unknown as {
      connection: NodeJS.EventEmitter & { stream: { destroy(): void } };
    };
    connection.stream.destroy();
    connection.emit('error', new DatabaseUnavailable(reason));
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const { servers } = this.#config;
    if (!servers && !callback) return super.connect();
    if (!servers) {
      super.connect(callback as (error: Error) => void);
      return;
    }
    const connected = this.#connectTo(servers);
    if (!callback) return connected;
    const succeed = callback as (error: Error | null) => void;
    connected.then(() => succeed(null), callback);
    return;
  }

  /** `pg` calls this on connect, although its types omit it. */
  getStartupConf(): Record<string, string> {
    const { getStartupConf } = pg.Client.prototype as unknown as Client;
    return { ...getStartupConf.call(this), ...this.#config.settings };
  }

  async #connectTo(servers: Servers): Promise<pg.Client> {
    const { connectionTimeoutMillis } = this.#config;
    const { server, primary } = await within(servers.find(), connectionTimeoutMillis);
    const { connection } = this as unknown as {
      connection: NodeJS.EventEmitter & { stream: { destroyed: boolean } };
    };
    // The pool has given up meanwhile.
    if (connection.stream.destroyed) throw new DatabaseUnavailable('timeout expired');
    this.#server = server;
    const reported: Record<string, string> = {};
    connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      reported[parameterName] = parameterValue;
    });
    aim(this, server);
    try {
      await super.connect();
    } catch (error) {
      this.#forgetServer();
      throw error;
    }
    const standby = reported.in_hot_standby === 'on';
    const readOnly = standby || reported.default_transaction_read_only === 'on';
    const isWanted =
      servers.accepts({ standby, readOnly }) || reported.in_hot_standby === undefined;
    if (isWanted && servers.addConnection(this, primary)) {
      this.once('end', () => servers.removeConnection(this));
      return this;
    }
    this.#forgetServer();
    this.end().catch(() => {});
    throw new DatabaseUnavailable(`the server ${server.host} is no primary any more`);
  }

  #forgetServer(): void {
    if (this.#server) this.#config.servers?.forget(this.#server);
  }

  #foundReadOnly(): void {
    this.#readOnly = true;
    this.#forgetServer();
    this.#config.idle?.close();
  }

  /**
   * The server reports a commit that no standby has confirmed, because an administrator canceled the wait: the caller
   * must not take it for done. Without the response, the outcome is looked up or reported as unknown.
   */
  #failCommit(): void {
    this.abort('the commit was not confirmed by a standby');
  }
}

async function within<T>(work: Promise<T>, ms: number | undefined): Promise<T> {
  if (!ms) return work;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DatabaseUnavailable('timeout expired')), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
