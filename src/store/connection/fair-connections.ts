import { AsyncLocalStorage } from 'node:async_hooks';
import type { DatabaseConnection, Driver, PostgresDialectConfig } from 'kysely';
import type { Release, Shares } from '../../core/shares.ts';
import { type Db, handleOf } from './database.ts';
import { ObservedDialect } from './observed-errors.ts';
import type { Pipelines } from './pipeline.ts';

/**
 * Connections that requests share between workspaces. A request waits for a slot of its workspace before it asks for a
 * connection: many requests of one workspace that wait for a lock hold their share of the connections and no more.
 *
 * Only requests use these handles. Background work uses the plain ones: it may begin within a request, and then outlives it.
 */

const requester = new AsyncLocalStorage<string>();

/** Runs the work of a request whose workspace is known. */
export function inWorkspace<T>(workspaceId: string, work: () => T): T {
  return requester.run(workspaceId, work);
}

/** Another handle on the same pool, with a slot for each connection that a workspace uses. Closing `db` closes both. */
export function fairDb(db: Db, shares: Shares): Db {
  return handleOf(db, (pool) => new FairDialect({ pool }, shares));
}

class FairDialect extends ObservedDialect {
  readonly #shares: Shares;

  constructor(config: PostgresDialectConfig, shares: Shares) {
    super(config);
    this.#shares = shares;
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const slots = new WeakMap<DatabaseConnection, Release>();
    const acquire = driver.acquireConnection.bind(driver);
    const release = driver.releaseConnection.bind(driver);
    driver.acquireConnection = async (options) => {
      const slot = await slotOf(this.#shares);
      try {
        const connection = await acquire(options);
        if (slot) slots.set(connection, slot);
        return connection;
      } catch (error) {
        slot?.();
        throw error;
      }
    };
    driver.releaseConnection = async (connection, options) => {
      const slot = slots.get(connection);
      slots.delete(connection);
      try {
        await release(connection, options);
      } finally {
        slot?.();
      }
    };
    return driver;
  }
}

/** The same connections, likewise. */
export function fairPipelines(pipelines: Pipelines, shares: Shares): Pipelines {
  return {
    ...pipelines,
    async use(work, responseTimeoutMs) {
      const slot = await slotOf(shares);
      try {
        return await pipelines.use(work, responseTimeoutMs);
      } finally {
        slot?.();
      }
    },
  };
}

/** Null outside of requests. */
async function slotOf(shares: Shares): Promise<Release | null> {
  const workspaceId = requester.getStore();
  return workspaceId === undefined ? null : shares.wait(workspaceId);
}
