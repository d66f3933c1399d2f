import type { ByteShares } from '../../core/byte-shares.ts';
import type { QueuedExecution } from '../../core/execution/queued-execution.ts';
import type { ModelEvent } from '../../core/model/model-port.ts';
import type { Db } from '../../db/database.ts';
import type { Notifications } from '../../db/notifications.ts';
import { type EmittedEvent, EmittedEvents, mergeTexts } from './emitted-events.ts';
import { findStreamStates, writeStreamChunks } from './stream-chunks.ts';

/**
 * The streams of this process: what its attempts emit, and the readers that wait for more.
 *
 * Readers in this process read from memory and are woken by each event. For readers in other processes, chunks are
 * written to the database and announced: the first one at once, the next ones every 50 ms or 1,024 characters. All
 * streams of the process share one statement, one at a time.
 *
 * Invariants
 * - While an attempt does not own its execution, nothing of it is emitted. If it owns it again, nothing is missing.
 * - Chunks of an attempt are written in order. A failed write is repeated, and begins at the beginning of the text: the
 *   database may have crashed and lost all chunks.
 * - Nothing here delays a model call or an end.
 *
 * Failure cases: a notification is lost, then the poll finds the change within a second. The worker dies, then the next
 * attempt voids the text.
 */
export interface LiveStreams {
  /**
   * Begins the stream of an attempt, or of a turn of a tool loop. `isOwned` tells whether this process still holds the execution.
   */
  open(execution: QueuedExecution, isOwned: () => boolean, turn?: number): AttemptStream;
  /** What the attempt that runs in this process has emitted; null if none does. */
  find(
    executionId: string,
  ): { readonly attempt: number; readonly events: readonly EmittedEvent[] } | null;
  watch(id: string): StreamWatch;
  /** Wakes the readers of these executions. */
  wake(ids: readonly string[]): void;
  /** What is held for readers. */
  readonly bytes: ByteShares;
  /** Ends all readers, for shutdown. */
  close(): void;
  readonly closed: boolean;
}

/** Receives the events of one attempt. */
export interface AttemptStream {
  emit(event: ModelEvent): void;
  /** The attempt is over. */
  close(): void;
}

/** Of one reader. */
export interface StreamWatch {
  /** Resolves once something has changed since the last call. */
  changed(): Promise<void>;
  stop(): void;
}

export interface LiveStreamsDeps {
  readonly db: Db;
  readonly notifications: Pick<Notifications, 'publish'>;
  readonly onError: (error: unknown) => void;
  readonly bytes: ByteShares;
}

const chunkMs = 50;
const chunkChars = 1_024;
/** A chunk ends with the event that exceeds this, so that readers need not hold more. */
const chunkCharsMax = 65_536;
const retryMs = 1_000;
const pollMs = 1_000;
/** Streams per statement. */
const writtenMax = 500;

interface OpenStream {
  readonly execution: QueuedExecution;
  readonly isOwned: () => boolean;
  readonly emitted: EmittedEvents;
  /** The number of events in chunks that are written. */
  written: number;
  unwrittenChars: number;
  /** The last chunk that is written; null if all must be written from the beginning. */
  previous: number | null;
  number: number;
  timer: NodeJS.Timeout | null;
  /** Whether the first chunk has been sent. */
  begun: boolean;
  closed: boolean;
}

export function createLiveStreams(deps: LiveStreamsDeps): LiveStreams {
  const open = new Map<string, OpenStream>();
  const readers = createReaders(deps.db, deps.onError, (id) => open.has(id));
  const writer = createWriter(deps);

  function start(execution: QueuedExecution, isOwned: () => boolean, turn?: number): AttemptStream {
    const stream: OpenStream = {
      ...{ execution, isOwned, emitted: new EmittedEvents(turn), written: 0, unwrittenChars: 0 },
      ...{ previous: null, number: 0, timer: null, begun: false, closed: false },
    };
    const before = open.get(execution.id);
    if (before) close(before);
    open.set(execution.id, stream);
    readers.wake([execution.id]);
    return {
      emit(event) {
        if (stream.closed || !stream.emitted.add(event)) return;
        if ('text' in event) stream.unwrittenChars += event.text.length;
        // Kept: a process may be unsure for a moment whether it still holds the execution.
        if (!isOwned()) return;
        readers.wake([execution.id]);
        writer.schedule(stream);
      },
      close: () => close(stream),
    };
  }

  function close(stream: OpenStream): void {
    const { id } = stream.execution;
    stream.closed = true;
    clearTimer(stream);
    if (open.get(id) === stream) open.delete(id);
    readers.wake([id]);
  }

  return {
    open: start,
    find(executionId) {
      const stream = open.get(executionId);
      if (!stream?.isOwned()) return null;
      return { attempt: stream.execution.attempt, events: stream.emitted.all };
    },
    watch: readers.watch,
    wake: readers.wake,
    bytes: deps.bytes,
    close() {
      readers.close();
      deps.bytes.close();
    },
    get closed() {
      return readers.closed;
    },
  };
}

function clearTimer(stream: OpenStream): void {
  if (stream.timer) clearTimeout(stream.timer);
  stream.timer = null;
}

/** Writes the chunks of all streams. */
function createWriter({ db, notifications, onError }: LiveStreamsDeps) {
  const due = new Set<OpenStream>();
  let writing = false;

  function schedule(stream: OpenStream): void {
    const isFirst = !stream.begun;
    stream.begun = true;
    if (isFirst || stream.unwrittenChars >= chunkChars) writeSoon(stream);
    else stream.timer ??= setTimeout(() => writeSoon(stream), chunkMs);
  }

  function writeSoon(stream: OpenStream): void {
    clearTimer(stream);
    if (stream.closed) return;
    due.add(stream);
    if (writing) return;
    writing = true;
    void writeDue();
  }

  async function writeDue(): Promise<void> {
    // Events that arrive together share the first chunk.
    await Promise.resolve();
    while (due.size > 0) {
      const batch = [...due].slice(0, writtenMax);
      for (const stream of batch) due.delete(stream);
      const streams = batch.filter(({ closed }) => !closed);
      const sent = streams.map((stream) => ({ stream, to: chunkEnd(stream) }));
      try {
        if (sent.length > 0) await write(sent);
      } catch (error) {
        onError(error);
        for (const { stream } of sent) repeat(stream);
      }
    }
    writing = false;
  }

  async function write(sent: readonly { stream: OpenStream; to: number }[]): Promise<void> {
    for (const { stream } of sent) {
      stream.unwrittenChars = 0;
      clearTimer(stream);
    }
    const rows = await writeStreamChunks(
      db,
      sent.map(({ stream, to }) => chunkOf(stream, to)),
    );
    const results = new Map(rows.map((row) => [row.executionId, row]));
    for (const { stream, to } of sent) {
      const result = results.get(stream.execution.id);
      // The claim is lost; the worker aborts the attempt.
      if (!result) continue;
      if (!result.written) {
        stream.previous = null;
        stream.number++;
        writeSoonAgain(stream);
        continue;
      }
      stream.previous = stream.number++;
      stream.written = to;
      if (chunkEnd(stream) < stream.emitted.all.length) writeSoonAgain(stream);
      else if (stream.emitted.all.length > to) schedule(stream);
    }
    notifications.publish('cueline_execution_streamed', [...results.keys()]);
  }

  function writeSoonAgain(stream: OpenStream): void {
    if (!stream.closed) due.add(stream);
  }

  /** The outcome is unknown, and the chunks before may be lost. */
  function repeat(stream: OpenStream): void {
    stream.previous = null;
    stream.number++;
    clearTimer(stream);
    stream.timer = setTimeout(() => writeSoon(stream), retryMs);
  }

  return { schedule };
}

/** Where the next chunk begins. */
function chunkStart({ previous, written }: OpenStream): number {
  return previous === null ? 0 : written;
}

/** Where it ends, if it is written now. */
function chunkEnd(stream: OpenStream): number {
  const { all } = stream.emitted;
  let chars = 0;
  for (let end = chunkStart(stream); end < all.length; ) {
    const event = all[end++];
    if (event && 'text' in event) chars += event.text.length;
    if (chars >= chunkCharsMax) return end;
  }
  return all.length;
}

function chunkOf(stream: OpenStream, to: number) {
  const { execution, emitted, previous, number } = stream;
  const events = emitted.all.slice(chunkStart(stream), to);
  const { id: executionId, worker, attempt } = execution;
  return {
    ...{ executionId, worker, attempt, number, previous },
    events: JSON.stringify(mergeTexts(events)),
  };
}

/** The readers of this process, by execution. A poll finds what no notification announced. */
function createReaders(
  db: Db,
  onError: (error: unknown) => void,
  isLocal: (id: string) => boolean,
) {
  const watched = new Map<string, Set<() => void>>();
  const states = new Map<string, string>();
  let polling = false;
  let closed = false;
  const timer = setInterval(() => void poll(), pollMs);
  timer.unref();

  function wake(ids: readonly string[]): void {
    for (const id of ids) for (const notify of watched.get(id) ?? []) notify();
  }

  async function poll(): Promise<void> {
    const ids = [...watched.keys()].filter((id) => !isLocal(id));
    if (polling || ids.length === 0) return;
    polling = true;
    try {
      const found = await findStreamStates(db, ids);
      const changed = ids.filter((id) => !found.has(id) || found.get(id) !== states.get(id));
      for (const id of ids) if (watched.has(id)) states.set(id, found.get(id) ?? '');
      wake(changed);
    } catch (error) {
      onError(error);
    } finally {
      polling = false;
    }
  }

  return {
    wake,
    watch(id: string): StreamWatch {
      let change = Promise.withResolvers<void>();
      const notify = () => change.resolve();
      watched.set(id, (watched.get(id) ?? new Set()).add(notify));
      if (closed) notify();
      return {
        async changed() {
          await change.promise;
          if (!closed) change = Promise.withResolvers();
        },
        stop() {
          notify();
          const others = watched.get(id);
          others?.delete(notify);
          if (others?.size !== 0) return;
          watched.delete(id);
          states.delete(id);
        },
      };
    },
    close() {
      closed = true;
      clearInterval(timer);
      wake([...watched.keys()]);
    },
    get closed() {
      return closed;
    },
  };
}
