import type { FastifyReply } from 'fastify';
import type { Caller } from '../../../core/people/caller.ts';
import type { Shares } from '../../../core/shares.ts';
import { waitForDatabase } from '../../../db/wait-for-database.ts';
import type { Waiters } from '../../../engine/read/wait.ts';
import { abortOnDisconnect } from '../../../http/connection/disconnect.ts';

interface Wait<Row> {
  /** Null if it is malformed. */
  readonly id: string | null;
  /** Undefined without a `wait` parameter. */
  readonly seconds: number | undefined;
  readonly caller: Caller;
  /** Authenticates again after the wait, because a key may be revoked meanwhile. */
  readonly reauthenticate: () => Promise<Caller>;
  readonly read: (caller: Caller) => Promise<Row>;
}

interface Viewed<Row> {
  readonly row: Row;
  /** The caller that read the row: after a wait, the one that was authenticated again. */
  readonly viewer: Caller;
}

/**
 * Reads an execution or workflow run; with `seconds`, waits until it ends, the time is up or the client disconnects. It
 * subscribes before it reads, so an end between the two is not missed. Beyond its workspace's share of long polls it does not wait.
 * While the database is unavailable it waits until the time is up.
 */
export async function waitFor<Row extends { readonly status: string }>(
  { waits, waiters }: { readonly waits: Shares; readonly waiters: Waiters },
  { id, seconds, caller, reauthenticate, read }: Wait<Row>,
  reply: FastifyReply,
): Promise<Viewed<Row>> {
  if (id === null || !seconds) return { row: await read(caller), viewer: caller };
  const release = waits.tryTake(caller.workspaceId);
  if (!release) return { row: await read(caller), viewer: caller };
  const ended = abortOnDisconnect(reply);
  const waited = waiters.wait(id, seconds * 1000, ended.signal);
  const until = performance.now() + seconds * 1000;
  const isOver = () => waiters.closed || ended.signal.aborted || performance.now() >= until;
  try {
    const row = await waitForDatabase(() => read(caller), isOver);
    if (row.status !== 'processing') return { row, viewer: caller };
    await waited;
    return await waitForDatabase(async () => {
      const viewer = await reauthenticate();
      return { row: await read(viewer), viewer };
    }, isOver);
  } finally {
    ended.abort();
    release();
  }
}
