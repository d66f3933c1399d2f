import type { CallToolResult } from '@modelcontextprotocol/server';
import { waitForDatabase } from '../../db/wait-for-database.ts';
import { cancelAbandoned } from '../../engine/complete/cancel-abandoned.ts';
import { readWithinBytes, type StreamReading } from '../../engine/stream/read-within-bytes.ts';
import { asCallFailure } from '../../http/response/error-response.ts';
import { canceledResult, unfinishedResult } from './tool-result.ts';
import type { CallState, TrackedCall } from './tracked-call.ts';

/** Between two messages about the progress of a call. */
const progressMs = 5_000;
/** Between two reads of a call that waits to start. */
const startPollMs = 1_000;
const pollsPerMessage = progressMs / startPollMs;

/** A longer piece of text, and what follows it, comes from a call that is not streamed, and is in the result as well. */
const shownCharsMax = 4_096;

export interface Follower {
  /** Sends a message about the progress; null if the client wants none. */
  readonly report: ((message: string) => Promise<void>) | null;
  /** Aborted when the client no longer waits. The call continues. */
  readonly left: AbortSignal;
  /** Aborted when the call must be canceled. */
  readonly canceled: AbortSignal;
  /** For the result, which is held until the response is sent. */
  readonly reading: StreamReading;
  /** Reports an unexpected error of reading the text. The call continues. */
  readonly onFault: (error: unknown) => void;
}

/** Waits for the end of a call and reports its progress, or cancels it. */
export async function followCall(
  tracked: TrackedCall,
  follower: Follower,
): Promise<CallToolResult> {
  const { waiters, links } = tracked;
  const { canceled } = follower;
  let result: CallToolResult | null = null;
  try {
    result = await waitForEnd(tracked, follower);
  } finally {
    if (canceled.aborted && result === null && !waiters.closed) {
      await cancelAbandoned(() => tracked.cancel(), waiters);
    }
  }
  if (result !== null) return result;
  if (!canceled.aborted || waiters.closed) return unfinishedResult(links);
  // It may have ended before it was canceled.
  return (await readIfAvailable(tracked))?.result ?? canceledResult(links);
}

/**
 * Reports progress at acceptance, at the start, each piece of text, every five seconds and at the end. It subscribes before
 * each read, so an end between the two is not missed. While the database is unavailable, it keeps waiting. Null if the client
 * or the process ends the wait.
 */
async function waitForEnd(
  tracked: TrackedCall,
  { report, left, canceled, reading: resultReading, onFault }: Follower,
): Promise<CallToolResult | null> {
  const { waiters, id, taskId } = tracked;
  const stop = AbortSignal.any([left, canceled]);
  const progress = new Progress(report);
  await progress.report(`Accepted as ${taskId}.`);
  const reading = new AbortController();
  const showing = AbortSignal.any([stop, reading.signal]);
  let shown: Promise<void> | null = null;
  for (let reads = 0; !stop.aborted && !waiters.closed; reads++) {
    const done = new AbortController();
    const waitMs = progress.isStarted ? progressMs : startPollMs;
    const waited = waiters.wait(id, waitMs, AbortSignal.any([stop, done.signal]));
    try {
      const state = await readStatus(tracked);
      // Only now: the key may not read the execution of an earlier call any more.
      if (state && report) shown ??= showText(tracked, progress, showing).catch(onFault);
      if (state?.isEnded) {
        await shown;
        await progress.report(`Ended: ${state.status}.`);
        // Only now: while the client does not read, nothing is held for it.
        return await readResult(tracked, resultReading, () => stop.aborted || waiters.closed);
      }
      if (state?.startedAt) await progress.running();
      else if (reads > 0 && reads % pollsPerMessage === 0) {
        await progress.report('Waiting to start.');
      }
      await waited;
    } catch (error) {
      reading.abort();
      await shown;
      throw error;
    } finally {
      done.abort();
    }
  }
  return null;
}

class Progress {
  readonly #report: Follower['report'];
  #startedMs: number | null = null;

  constructor(report: Follower['report']) {
    this.#report = report;
  }

  get isStarted(): boolean {
    return this.#startedMs !== null;
  }

  async report(message: string): Promise<void> {
    await this.#report?.(message);
  }

  async started(): Promise<void> {
    if (this.#startedMs !== null) return;
    this.#startedMs = performance.now();
    await this.report('Started.');
  }

  async running(): Promise<void> {
    if (this.#startedMs === null) return this.started();
    const seconds = Math.round((performance.now() - this.#startedMs) / 1000);
    await this.report(`Running for ${seconds} seconds.`);
  }
}

/** Reports what the model writes, until the end. */
async function showText(
  { openStream }: TrackedCall,
  progress: Progress,
  stop: AbortSignal,
): Promise<void> {
  let isCut = false;
  try {
    for await (const event of openStream(stop)) {
      if (event.type === 'restart') {
        await progress.report(`Attempt ${event.attempt} starts over. Discard the text so far.`);
      }
      if (event.type === 'restart') isCut = false;
      if (event.type !== 'text' || isCut) continue;
      await progress.started();
      const { text } = event;
      isCut = text.length > shownCharsMax;
      await progress.report(isCut ? `${text.slice(0, shownCharsMax)}…` : text);
    }
  } catch (error) {
    if (!asCallFailure(error)) throw error;
  }
}

/** The status without the result; null while the database is unavailable. */
async function readStatus(tracked: TrackedCall) {
  const state = await readIfAvailable(tracked);
  return (
    state && { status: state.status, startedAt: state.startedAt, isEnded: state.result !== null }
  );
}

/** The result once there is room for it; null if the wait ends first. */
async function readResult(
  tracked: TrackedCall,
  reading: StreamReading,
  isOver: () => boolean,
): Promise<CallToolResult | null> {
  try {
    const read = await readWithinBytes(reading, () =>
      waitForDatabase(() => tracked.read(), isOver),
    );
    if (!read) return null;
    if (reading.signal.aborted) read.free();
    else reading.signal.addEventListener('abort', read.free, { once: true });
    return read.value.result;
  } catch (error) {
    if (isOver() && asCallFailure(error)?.code === 'UNAVAILABLE') return null;
    throw error;
  }
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
