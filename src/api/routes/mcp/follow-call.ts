import type { CallToolResult } from '@modelcontextprotocol/server';
import { asCallFailure } from '../../http/error-response.ts';
import { unfinishedResult } from './tool-result.ts';
import type { CallState, TrackedCall } from './tracked-call.ts';

/** Between two messages about the progress of a call. */
const progressMs = 5_000;
/** Between two reads of a call that waits to start. */
const startPollMs = 1_000;
const pollsPerMessage = progressMs / startPollMs;

export interface Follower {
  /** Sends a message about the progress. */
  readonly report: (message: string) => Promise<void>;
  /** Aborted when the client no longer waits. The call continues. */
  readonly left: AbortSignal;
  /** Aborted when the call must be canceled. */
  readonly canceled: AbortSignal;
}

/**
 * Waits for the end of a call and reports its progress: at acceptance, at its start, every five seconds and at the end. It
 * subscribes before each read, so an end between the two is not missed. While the database is unavailable, it keeps waiting.
 */
export async function followCall(
  tracked: TrackedCall,
  { report, left, canceled }: Follower,
): Promise<CallToolResult> {
  const { waiters, id } = tracked;
  const stop = AbortSignal.any([left, canceled]);
  let ended = false;
  let startedMs: number | null = null;
  try {
    await report(`Accepted as ${tracked.taskId}.`);
    for (let reads = 0; !stop.aborted && !waiters.closed; reads++) {
      const done = new AbortController();
      const waitMs = startedMs === null ? startPollMs : progressMs;
      const waited = waiters.wait(id, waitMs, AbortSignal.any([stop, done.signal]));
      try {
        const state = await readIfAvailable(tracked);
        ended = state?.result != null;
        if (state?.result) {
          await report(`Ended: ${state.status}.`);
          return state.result;
        }
        if (state?.startedAt) await report(runningText(startedMs));
        else if (reads > 0 && reads % pollsPerMessage === 0) await report('Waiting to start.');
        if (state?.startedAt) startedMs ??= performance.now();
        await waited;
      } finally {
        done.abort();
      }
    }
    return unfinishedResult(tracked.links);
  } finally {
    if (canceled.aborted && !ended && !waiters.closed) await tracked.cancel();
  }
}

function runningText(startedMs: number | null): string {
  if (startedMs === null) return 'Started.';
  return `Running for ${Math.round((performance.now() - startedMs) / 1000)} seconds.`;
}

/** Null while the database is unavailable. */
async function readIfAvailable({ read }: TrackedCall): Promise<CallState | null> {
  try {
    return await read();
  } catch (error) {
    if (asCallFailure(error)?.code === 'UNAVAILABLE') return null;
    throw error;
  }
}
