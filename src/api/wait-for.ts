import type { FastifyReply } from 'fastify';
import type { Waiters } from '../flow/wait.ts';

/**
 * What there is of a run, to a caller that waits once it has ended, the time is up or the caller is gone. Waits before it
 * reads: a run that ends in between is not missed.
 */
export async function waitFor<Row extends { readonly status: string }>(
  waiters: Waiters,
  /** The id is null where it is malformed, the time undefined where nobody waits. */
  { id, seconds, read }: { id: string | null; seconds?: number; read: () => Promise<Row> },
  reply: FastifyReply,
): Promise<Row> {
  if (id === null || !seconds) return read();
  const gone = new AbortController();
  const leave = () => gone.abort();
  // Whoever left while their key was looked at has said so already.
  if (reply.raw.destroyed) leave();
  reply.raw.once('close', leave);
  const waited = waiters.wait(id, seconds * 1000, gone.signal);
  try {
    const row = await read();
    if (row.status !== 'processing') return row;
    await waited;
    return await read();
  } finally {
    leave();
  }
}
