import type { ToolCall } from '../../core/agent/messages.ts';
import type { Db } from '../../store/connection/database.ts';
import type { ExecutionDetailRow, ExecutionKey } from '../../store/execution/executions.ts';
import { readStreamChunks } from '../../store/execution/stream-chunks.ts';
import { waitForDatabase } from '../wait-for-database.ts';
import { type EmittedEvent, type StreamPosition, startOf, unseen } from './emitted-events.ts';
import type { LiveStreams, StreamWatch } from './live-streams.ts';
import type { SharedReads } from './shared-reads.ts';

/**
 * Reads the stream of an execution from a position until its end, in whatever process it runs: from the memory of this
 * process, from the chunks in the database, or after the end from the record.
 *
 * The texts of the last attempt, concatenated, are the output. A later attempt voids what was emitted: `restart` precedes
 * its events if there was anything to void. After the end, the record has the rest of the text.
 */
export type ExecutionStreamEvent =
  /** The record of an execution that has not ended: at the beginning, and when an attempt begins. */
  | { readonly type: 'status'; readonly execution: ExecutionDetailRow }
  | (EmittedEvent & { readonly attempt: number; readonly next: number })
  | { readonly type: 'restart'; readonly attempt: number }
  /** The text does not exist any more. */
  | { readonly type: 'gone'; readonly reason: 'retention' }
  | { readonly type: 'end'; readonly execution: ExecutionDetailRow };

export interface ReadStreamDeps {
  readonly db: Db;
  readonly streams: Pick<LiveStreams, 'find' | 'watch' | 'closed'>;
  readonly reads: Pick<SharedReads, 'execution'>;
}

/** Where a reader continues: the attempt and the number of UTF-16 units of its text that it has. */
export interface StreamStart {
  readonly attempt: number;
  readonly offset: number;
}

/**
 * Ends without an `end` if the signal aborts, the process shuts down or the record is deleted. While the database is
 * unavailable it waits. The caller must have checked that the execution exists.
 * @param after null to read from the beginning
 */
export async function* readExecutionStream(
  deps: ReadStreamDeps,
  key: ExecutionKey,
  after: StreamStart | null,
  signal: AbortSignal,
): AsyncGenerator<ExecutionStreamEvent, void, undefined> {
  const watch = deps.streams.watch(key.executionId);
  const stop = () => watch.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    yield* new StreamReader(deps, key, after, signal).events(watch);
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

class StreamReader {
  readonly #deps: ReadStreamDeps;
  readonly #key: ExecutionKey;
  readonly #signal: AbortSignal;
  /** Null until an attempt has begun. */
  #position: StreamPosition | null;
  /** Whether the reader has anything of the current attempt. */
  #hasEmitted: boolean;
  /** The last chunk read from the database. */
  #chunk = { attempt: 0, number: -1 };
  /** The number of events read from memory. */
  #read = { attempt: 0, count: 0 };
  #statusOf: number | null = null;

  constructor(
    deps: ReadStreamDeps,
    key: ExecutionKey,
    after: StreamStart | null,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#key = key;
    this.#signal = signal;
    this.#hasEmitted = after !== null;
    const known = after?.offset === 0 ? 0 : null;
    this.#position = after && { ...after, reasoning: known, tools: known };
  }

  async *events(watch: StreamWatch): AsyncGenerator<ExecutionStreamEvent, void, undefined> {
    while (!this.#isStopped()) {
      if (!this.#liveEvents() && !(yield* this.#fromDatabase())) return;
      const live = this.#liveEvents();
      if (live) yield* this.#fromMemory(live);
      if (!this.#isStopped()) await watch.changed();
    }
  }

  /** Those in this process, once the status of their attempt has been sent. */
  #liveEvents() {
    const live = this.#deps.streams.find(this.#key.executionId);
    return live?.attempt === this.#statusOf ? live : null;
  }

  #isStopped(): boolean {
    return this.#signal.aborted || this.#deps.streams.closed;
  }

  *#fromMemory({ attempt, events }: { attempt: number; events: readonly EmittedEvent[] }) {
    yield* this.#begin(attempt);
    if (this.#read.attempt !== attempt) this.#read = { attempt, count: 0 };
    while (this.#read.count < events.length) {
      const event = events[this.#read.count++];
      if (event) yield* this.#emit(event);
    }
  }

  /** False if the stream is over. */
  async *#fromDatabase(): AsyncGenerator<ExecutionStreamEvent, boolean, undefined> {
    const { db, reads } = this.#deps;
    const read = <T>(work: () => Promise<T>) => waitForDatabase(work, () => this.#isStopped());
    const stored = await read(() => readStreamChunks(db, this.#key.executionId, this.#chunk));
    // The position of a reader may be ahead of a queue that was restored from a backup: its text is void as well.
    let execution: ExecutionDetailRow | null = null;
    if (stored === null || this.#statusOf !== stored.attempt) {
      ({ execution } = await read(() => reads.execution(this.#key)));
      if (!execution) return false;
      if (execution.status !== 'processing') {
        yield* this.#end(execution);
        return false;
      }
      if (stored === null) return true;
    }
    const { attempt, chunks } = stored;
    const isLater = attempt > (this.#position?.attempt ?? 0);
    if (chunks.length > 0 || isLater) yield* this.#begin(attempt);
    if (this.#statusOf !== attempt && execution) yield { type: 'status', execution };
    this.#statusOf = attempt;
    // Before the first claim there is nothing to read.
    if (attempt === 0) return true;
    if (this.#chunk.attempt !== attempt) this.#chunk = { attempt, number: -1 };
    for (const { number, events } of chunks) {
      this.#chunk = { attempt, number };
      for (const event of JSON.parse(events) as EmittedEvent[]) yield* this.#emit(event);
    }
    return true;
  }

  /** The reader arrives at this attempt. */
  *#begin(attempt: number): Generator<ExecutionStreamEvent, void, undefined> {
    if (this.#position?.attempt === attempt) return;
    const isVoid = this.#hasEmitted;
    this.#position = startOf(attempt);
    this.#hasEmitted = false;
    if (isVoid) yield { type: 'restart', attempt };
  }

  *#emit(event: EmittedEvent): Generator<ExecutionStreamEvent, void, undefined> {
    const found = this.#position && unseen(event, this.#position);
    if (!found) return;
    this.#position = found.position;
    this.#hasEmitted = true;
    const { attempt, offset: next } = found.position;
    yield { ...found.event, attempt, next };
  }

  *#end(execution: ExecutionDetailRow): Generator<ExecutionStreamEvent, void, undefined> {
    const { status, output, toolCalls, reasoningText, lastClaim } = execution;
    if (status === 'success') {
      yield* this.#begin(lastClaim ?? this.#position?.attempt ?? 1);
      const isFresh = !this.#hasEmitted;
      if (isFresh && reasoningText) {
        yield* this.#emit({ type: 'reasoning', offset: 0, at: 0, text: reasoningText });
      }
      const text = output ?? '';
      if (output === null) yield { type: 'gone', reason: 'retention' };
      else if (text !== '') yield* this.#emit({ type: 'text', offset: 0, text });
      const calls: ToolCall[] = toolCalls === null ? [] : JSON.parse(toolCalls);
      for (const [index, toolCall] of calls.entries()) {
        yield* this.#emit({ type: 'tool', index, at: text.length, toolCall });
      }
    }
    yield { type: 'end', execution };
  }
}
