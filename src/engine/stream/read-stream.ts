import type { ToolCall } from '../../core/agent/messages.ts';
import type { Execution } from '../../core/execution/execution-fields.ts';
import type { Db } from '../../db/database.ts';
import { waitForDatabase } from '../../db/wait-for-database.ts';
import type { ExecutionKey } from '../read/executions.ts';
import type { SharedReads } from '../read/shared-reads.ts';
import { type EmittedEvent, type StreamPosition, startOf, unseen } from './emitted-events.ts';
import type { LiveStreams, StreamWatch } from './live-streams.ts';
import { type CountedValue, readWithinBytes } from './read-within-bytes.ts';
import { chunksMax, readStreamChunks, type StoredStream } from './stream-chunks.ts';

/**
 * Reads the stream of an execution from a position until its end, in whatever process it runs: from the memory of this
 * process, from the chunks in the database, or after the end from the record.
 *
 * The texts of the last attempt, concatenated, are the output. A later attempt voids what was emitted: `restart` precedes
 * its events if there was anything to void. After the end, the record has the rest of the text.
 */
export type ExecutionStreamEvent =
  /** The record of an execution that has not ended: at the beginning, and when an attempt begins. */
  | { readonly type: 'status'; readonly execution: Execution }
  | (EmittedEvent & { readonly attempt: number; readonly next: number })
  | { readonly type: 'restart'; readonly attempt: number }
  /** The text does not exist any more. */
  | { readonly type: 'gone'; readonly reason: 'retention' }
  | { readonly type: 'end'; readonly execution: Execution };

export interface ReadStreamDeps {
  readonly db: Db;
  readonly streams: Pick<LiveStreams, 'find' | 'watch' | 'closed' | 'bytes'>;
  readonly reads: Pick<SharedReads, 'execution'>;
}

/** Where a reader continues: the attempt and the number of UTF-16 units of its text that it has. */
export interface StreamStart {
  readonly attempt: number;
  readonly offset: number;
}

/** What is read, and for whom. */
export interface StreamSource extends ExecutionKey {
  /** Whose share of the bytes it takes. */
  readonly workspaceId: string;
}

/**
 * Ends without an `end` if the signal aborts, the process shuts down or the record is deleted. While the database is
 * unavailable it waits. The caller must have checked that the execution exists.
 *
 * It is read no faster than its events are taken, and holds little: an event of text is short, and what it comes from is
 * looked up for each event. A record and chunks are held, and counted, until their events are taken.
 * @param after null to read from the beginning
 */
export async function* readExecutionStream(
  deps: ReadStreamDeps,
  source: StreamSource,
  after: StreamStart | null,
  signal: AbortSignal,
): AsyncGenerator<ExecutionStreamEvent, void, undefined> {
  const watch = deps.streams.watch(source.executionId);
  const stop = () => watch.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    yield* new StreamReader(deps, source, after, signal).events(watch);
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

/** `more`: there may be more in the database. */
type Progress = 'more' | 'wait' | 'over';

interface FoundChunks {
  /** In the queue; null if the execution is not there. */
  readonly attempt: number | null;
  readonly hasText: boolean;
  /** There may be further ones. */
  readonly isFull: boolean;
}

class StreamReader {
  readonly #deps: ReadStreamDeps;
  readonly #source: StreamSource;
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
    source: StreamSource,
    after: StreamStart | null,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#source = source;
    this.#signal = signal;
    this.#hasEmitted = after !== null;
    const known = after?.offset === 0 ? 0 : null;
    this.#position = after && { ...after, reasoning: known, tools: known };
  }

  async *events(watch: StreamWatch): AsyncGenerator<ExecutionStreamEvent, void, undefined> {
    while (!this.#isStopped()) {
      const progress = this.#liveEvents() ? 'wait' : yield* this.#fromDatabase();
      if (progress === 'over') return;
      for (let event = this.#nextLive(); event; event = this.#nextLive()) yield event;
      if (progress === 'wait' && !this.#isStopped()) await watch.changed();
    }
  }

  /** Those in this process, once the status of their attempt has been sent. */
  #liveEvents() {
    const live = this.#deps.streams.find(this.#source.executionId);
    return live?.attempt === this.#statusOf ? live : null;
  }

  #isStopped(): boolean {
    return this.#signal.aborted || this.#deps.streams.closed;
  }

  /** The next event from memory. After the end of the attempt, a slow reader continues from the database. */
  #nextLive(): ExecutionStreamEvent | null {
    const live = this.#liveEvents();
    if (!live) return null;
    const { attempt, events } = live;
    const restart = this.#begin(attempt);
    if (restart) return restart;
    if (this.#read.attempt !== attempt) this.#read = { attempt, count: 0 };
    for (let event = events[this.#read.count]; event; event = events[++this.#read.count]) {
      const next = this.#next(event);
      if (next) return next;
    }
    return null;
  }

  async *#fromDatabase(): AsyncGenerator<ExecutionStreamEvent, Progress, undefined> {
    const found = yield* this.#fromChunks();
    if (!found) return 'over';
    const { attempt } = found;
    // The position of a reader may be ahead of a queue that was restored from a backup: its text is void as well.
    if (attempt !== null && this.#statusOf === attempt) return found.isFull ? 'more' : 'wait';
    // Only now: who waits for room must hold nothing.
    if (!(yield* this.#fromRecord(found))) return 'over';
    return found.hasText ? 'more' : 'wait';
  }

  /** Null if the reader stops. Chunks of another attempt are left for when its status has been sent. */
  async *#fromChunks(): AsyncGenerator<ExecutionStreamEvent, FoundChunks | null, undefined> {
    const { db } = this.#deps;
    const { executionId } = this.#source;
    const counted = await this.#hold(() => readStreamChunks(db, executionId, this.#chunk));
    if (!counted) return null;
    try {
      const { attempt = null, chunks = [] } = counted.value ?? {};
      if (attempt !== null && attempt === this.#statusOf) yield* this.#chunkEvents(attempt, chunks);
      return { attempt, hasText: chunks.length > 0, isFull: chunks.length === chunksMax };
    } finally {
      counted.free();
    }
  }

  /** The status of an attempt, or the end. False if the stream is over. */
  async *#fromRecord({
    attempt,
    hasText,
  }: FoundChunks): AsyncGenerator<ExecutionStreamEvent, boolean, undefined> {
    const { reads } = this.#deps;
    const counted = await this.#hold(async () => (await reads.execution(this.#source)).execution);
    if (!counted?.value) return false;
    const execution = counted.value;
    try {
      if (execution.status !== 'processing') {
        yield* this.#end(execution);
        return false;
      }
      if (attempt === null) return true;
      const isLater = attempt > (this.#position?.attempt ?? 0);
      const restart = hasText || isLater ? this.#begin(attempt) : null;
      if (restart) yield restart;
      yield { type: 'status', execution };
      this.#statusOf = attempt;
      return true;
    } finally {
      counted.free();
    }
  }

  *#chunkEvents(
    attempt: number,
    chunks: StoredStream['chunks'],
  ): Generator<ExecutionStreamEvent, void, undefined> {
    if (chunks.length === 0) return;
    const restart = this.#begin(attempt);
    if (restart) yield restart;
    if (this.#chunk.attempt !== attempt) this.#chunk = { attempt, number: -1 };
    for (const { number, events } of chunks) {
      this.#chunk = { attempt, number };
      for (const event of JSON.parse(events) as EmittedEvent[]) yield* this.#emit(event);
    }
  }

  /** What is held until its events are taken. Null if the reader stops first. */
  #hold<T extends object | null>(read: () => Promise<T>): Promise<CountedValue<T> | null> {
    const { bytes } = this.#deps.streams;
    const { workspaceId } = this.#source;
    return readWithinBytes({ bytes, workspaceId, signal: this.#signal }, () =>
      waitForDatabase(read, () => this.#isStopped()),
    );
  }

  /** The reader arrives at this attempt. Returns the event that voids what it has. */
  #begin(attempt: number): ExecutionStreamEvent | null {
    if (this.#position?.attempt === attempt) return null;
    const isVoid = this.#hasEmitted;
    this.#position = startOf(attempt);
    this.#hasEmitted = false;
    return isVoid ? { type: 'restart', attempt } : null;
  }

  *#emit(event: EmittedEvent): Generator<ExecutionStreamEvent, void, undefined> {
    for (let next = this.#next(event); next; next = this.#next(event)) yield next;
  }

  /** What the reader has not seen of an event, or the next piece of it; null if it has seen all. */
  #next(event: EmittedEvent): ExecutionStreamEvent | null {
    const found = this.#position && unseen(event, this.#position);
    if (!found) return null;
    this.#position = found.position;
    this.#hasEmitted = true;
    const { attempt, offset: next } = found.position;
    return { ...found.event, attempt, next };
  }

  *#end(execution: Execution): Generator<ExecutionStreamEvent, void, undefined> {
    const { status, output, toolCalls, reasoningText, lastClaim } = execution;
    if (status === 'success') {
      const restart = this.#begin(lastClaim ?? this.#position?.attempt ?? 1);
      if (restart) yield restart;
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
