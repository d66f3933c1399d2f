import type { FastifyReply } from 'fastify';
import { waitsMax, waitsOfCallerMax } from '../../contract/limits.ts';
import type { Caller } from '../../core/execution/caller.ts';
import type { Waiters } from '../../flow/execution/wait.ts';

/** How many answers are held at the moment, and for whom: each is a request that is open. */
export interface WaitSlots {
  /** Returns the release function; null if this caller, or all together, have enough. */
  acquire(callerId: string): (() => void) | null;
}

export function createWaitSlots(): WaitSlots {
  const held = new Map<string, number>();
  let all = 0;
  return {
    acquire(callerId) {
      const own = held.get(callerId) ?? 0;
      if (own >= waitsOfCallerMax || all >= waitsMax) return null;
      held.set(callerId, own + 1);
      all++;
      return () => {
        const left = (held.get(callerId) ?? 1) - 1;
        if (left > 0) held.set(callerId, left);
        else held.delete(callerId);
        all--;
      };
    },
  };
}

interface Wait<Row> {
  /** Null where it is malformed. */
  readonly id: string | null;
  /** Undefined where nobody waits. */
  readonly seconds: number | undefined;
  readonly caller: Caller;
  /** The caller as it is after the wait: by then a key may be revoked. */
  readonly again: () => Promise<Caller>;
  readonly read: (caller: Caller) => Promise<Row>;
}

/**
 * What there is of a run, to a caller that waits once it has ended, the time is up or the caller is gone. Waits before it
 * reads: a run that ends in between is not missed. Without a free slot it is answered as if the time were up.
 */
export async function waitFor<Row extends { readonly status: string }>(
  { slots, waiters }: { readonly slots: WaitSlots; readonly waiters: Waiters },
  { id, seconds, caller, again, read }: Wait<Row>,
  reply: FastifyReply,
): Promise<Row> {
  if (id === null || !seconds) return read(caller);
  const release = slots.acquire(caller.id);
  if (!release) return read(caller);
  const gone = new AbortController();
  const leave = () => gone.abort();
  // Whoever left while their key was looked at has said so already.
  if (reply.raw.destroyed) leave();
  reply.raw.once('close', leave);
  const waited = waiters.wait(id, seconds * 1000, gone.signal);
  try {
    const row = await read(caller);
    if (row.status !== 'processing') return row;
    await waited;
    return await read(await again());
  } finally {
    leave();
    release();
  }
}
