import { AsyncLocalStorage } from 'node:async_hooks';
import type { Release, Shares } from '../core/shares.ts';
import type { Database } from './database.ts';
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
export function fairDb(db: Database, shares: Shares): Database {
  return db.withBefore(() => slotOf(shares));
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
