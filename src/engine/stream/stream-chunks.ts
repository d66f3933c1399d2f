import type { Db } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';

/**
 * The text of streamed executions that have not ended, for readers in other processes. The table is unlogged: a crash of
 * PostgreSQL empties it, and the worker then writes the whole text again.
 *
 * Invariants
 * - A chunk is written only by the claim that holds the execution: it names `(worker, attempt)`, the fence.
 * - Chunks are read by the attempt in the queue, so an attempt that lost its claim emits nothing more.
 * - A chunk is written only after the one before it, so that readers never miss one.
 *
 * Chunks of ended executions are of no use, because the record has the text. A round deletes them.
 */
export interface StreamChunk {
  readonly executionId: string;
  readonly worker: string;
  readonly attempt: number;
  /** Increases within an attempt. */
  readonly number: number;
  /** The chunk that must precede it; null for one that begins at the beginning. */
  readonly previous: number | null;
  /** JSON text of a list. */
  readonly events: string;
}

export interface WrittenChunk {
  readonly executionId: string;
  readonly attempt: number;
  /** False if the chunk before it is missing. */
  readonly written: boolean;
}

/** Writes one chunk for each stream. The result lacks those whose claim is lost. */
export async function writeStreamChunks(
  db: Db,
  chunks: readonly StreamChunk[],
): Promise<WrittenChunk[]> {
  const column = <Name extends keyof StreamChunk>(name: Name) => chunks.map((one) => one[name]);
  const { rows } = await sql<WrittenChunk>`
    with owned as materialized (
      select c.*, c.previous is null or exists (
        select from stream_chunks s
        where s.execution_id = c.execution_id and s.attempt = c.attempt and s.number = c.previous) as written
      from unnest(${column('executionId')}::uuid[], ${column('worker')}::uuid[], ${column('attempt')}::int[],
        ${column('number')}::int[], ${column('previous')}::int[], ${column('events')}::text[])
        as c (execution_id, worker, attempt, number, previous, events)
      join execution_queue q on q.id = c.execution_id and q.worker = c.worker and q.attempt = c.attempt),
    inserted as (
      insert into stream_chunks (execution_id, attempt, number, events)
      select execution_id, attempt, number, events from owned where written
      on conflict do nothing)
    select execution_id, attempt, written from owned`.execute(db);
  return rows;
}

/** Some chunks of an execution that has not ended, in order. */
export interface StoredStream {
  readonly attempt: number;
  readonly chunks: readonly { readonly number: number; readonly events: string }[];
}

/** Chunks that are read at once. */
export const chunksMax = 8;

/** Reads the next chunks after the given one, or the first of a later attempt; null if the execution is not in the queue. */
export async function readStreamChunks(
  db: Db,
  executionId: string,
  after: { readonly attempt: number; readonly number: number },
): Promise<StoredStream | null> {
  const { rows } = await sql<{ attempt: number; number: number | null; events: string }>`
    select q.attempt, c.number, c.events
    from execution_queue q left join stream_chunks c on c.execution_id = q.id and c.attempt = q.attempt
      and (q.attempt <> ${after.attempt} or c.number > ${after.number})
    where q.id = ${executionId} order by c.number limit ${chunksMax}`.execute(db);
  const [first] = rows;
  if (!first) return null;
  const chunks = rows.flatMap(({ number, events }) => (number === null ? [] : { number, events }));
  return { attempt: first.attempt, chunks };
}

/** What distinguishes the states of these streams; absent for executions that are not in the queue. */
export async function findStreamStates(
  db: Db,
  executionIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; attempt: number; number: number | null }>`
    select q.id, q.attempt, (select max(c.number) from stream_chunks c
      where c.execution_id = q.id and c.attempt = q.attempt) as number
    from execution_queue q where q.id = any(${executionIds}::uuid[])`.execute(db);
  return new Map(rows.map(({ id, attempt, number }) => [id, `${attempt} ${number}`]));
}

/** Deletes the chunks of ended executions. */
export async function deleteEndedStreams(db: Db): Promise<void> {
  await sql`
    delete from stream_chunks c
    where not exists (select from execution_queue q where q.id = c.execution_id)`.execute(db);
}
