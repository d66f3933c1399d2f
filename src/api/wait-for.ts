import type { FastifyReply } from 'fastify';
import type { Caller } from '../core/admission.ts';
import type { Waiters } from '../flow/wait.ts';

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
 * reads: a run that ends in between is not missed.
 */
export async function waitFor<Row extends { readonly status: string }>(
  waiters: Waiters,
  { id, seconds, caller, again, read }: Wait<Row>,
  reply: FastifyReply,
): Promise<Row> {
  if (id === null || !seconds) return read(caller);
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
  }
}
