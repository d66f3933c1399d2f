import { noUsage, type Usage } from '../../core/model/model-port.ts';
import type { Db } from '../../db/database.ts';
import type { EmittedEvent } from './emitted-events.ts';
import type { LiveStreams } from './live-streams.ts';
import { readStreamChunks } from './stream-chunks.ts';

/**
 * What an attempt that is read as a stream has received, for the record of its cancel: from memory if it runs in this process,
 * else from the chunks, which may lack the last 50 ms. Read before the end, because the end takes the execution out of the queue.
 */
export interface PartialAnswer {
  readonly text: string;
  /** Zeros if nothing is known. */
  readonly usage: Usage;
}

export const noAnswer: PartialAnswer = { text: '', usage: noUsage };

export async function findPartialAnswer(
  db: Db,
  streams: Pick<LiveStreams, 'find'> | null,
  executionId: string,
): Promise<PartialAnswer> {
  const local = streams?.find(executionId);
  if (local) return join(local.events);
  const events: EmittedEvent[] = [];
  let after = { attempt: 0, number: -1 };
  for (;;) {
    const stored = await readStreamChunks(db, executionId, after);
    const last = stored?.chunks.at(-1);
    if (!stored || !last) return join(events);
    // Another attempt has begun meanwhile.
    if (stored.attempt !== after.attempt) events.length = 0;
    for (const chunk of stored.chunks) events.push(...(JSON.parse(chunk.events) as EmittedEvent[]));
    after = { attempt: stored.attempt, number: last.number };
  }
}

function join(events: readonly EmittedEvent[]): PartialAnswer {
  let text = '';
  let usage = noUsage;
  for (const event of events) {
    if (event.type === 'tool') continue;
    usage = event.usage ?? usage;
    if (event.type !== 'text') continue;
    // A writer that has lost a chunk begins again.
    text = (event.offset === text.length ? text : text.slice(0, event.offset)) + event.text;
  }
  return { text, usage };
}
