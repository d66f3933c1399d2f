import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../harness/database.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { ByteShares } from '../../../src/core/byte-shares.ts';
import type { QueuedExecution } from '../../../src/core/execution/queued-execution.ts';
import { type Db, openDatabase } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  type EmittedEvent,
  EmittedEvents,
  mergeTexts,
  startOf,
  unseen,
} from '../../../src/engine/stream/emitted-events.ts';
import { createLiveStreams, type LiveStreams } from '../../../src/engine/stream/live-streams.ts';
import {
  chunksMax,
  deleteEndedStreams,
  readStreamChunks,
} from '../../../src/engine/stream/stream-chunks.ts';

let database: TestDatabase;
let db: Db;
let streams: LiveStreams;
const errors: unknown[] = [];
let announced = Promise.withResolvers<void>();

before(async () => {
  database = await createTestDatabase();
  // Dropping the database breaks the connections of the pool.
  db = openDatabase({ connection: database.connection, poolMax: 2, onError: () => {} });
  streams = createLiveStreams({
    db,
    notifications: {
      publish() {
        announced.resolve();
        announced = Promise.withResolvers();
      },
    },
    onError: (error) => errors.push(error),
    bytes: new ByteShares(1_000_000),
  });
});
after(async () => {
  streams.close();
  await db.destroy();
  await database.drop();
  assert.deepEqual(errors, []);
});

/** A claimed execution. Only the fields that a stream reads are given. */
async function claimed(attempt = 1): Promise<QueuedExecution> {
  const [id, worker] = [freshId(), freshId()];
  await sql`
    insert into execution_queue (id, workspace_id, agent_id, prompt_version_id, executed_at, tag, source, agent_name,
      prompt_version_label, model, settings, input_variables, worker, attempt, started_at)
    values (${id}, ${freshId()}, ${freshId()}, ${freshId()}, clock_timestamp(), 1, 'api', 'Agent', 'v1', 'm', '{}', '{}',
      ${worker}, ${attempt}, clock_timestamp())`.execute(db);
  return { id, worker, attempt } as QueuedExecution;
}

const text = (value: string) => ({ type: 'text', text: value }) as const;
const all = { attempt: 0, number: -1 };
const owned = () => true;

async function stored(execution: QueuedExecution): Promise<EmittedEvent[][]> {
  const found = await readStreamChunks(db, execution.id, all);
  return found?.chunks.map(({ events }) => JSON.parse(events) as EmittedEvent[]) ?? [];
}

describe('chunks', () => {
  test('the first is written at once, the next ones together', async () => {
    const execution = await claimed();
    const stream = streams.open(execution, owned);
    let written = announced.promise;
    stream.emit(text('a'));
    stream.emit(text('b'));
    await written;
    assert.deepEqual(await stored(execution), [[{ type: 'text', offset: 0, text: 'ab' }]]);
    written = announced.promise;
    stream.emit(text('c'));
    stream.emit({ type: 'reasoning', text: 'hm' });
    stream.emit(text('d'));
    await written;
    assert.deepEqual((await stored(execution))[1], [
      { type: 'text', offset: 2, text: 'c' },
      { type: 'reasoning', offset: 0, at: 3, text: 'hm' },
      { type: 'text', offset: 3, text: 'd' },
    ]);
    stream.close();
  });

  test('a missing one makes the whole text written again', async () => {
    const execution = await claimed();
    const stream = streams.open(execution, owned);
    let written = announced.promise;
    stream.emit(text('a'));
    await written;
    await sql`truncate stream_chunks`.execute(db);
    stream.emit(text('b'));
    let chunks: EmittedEvent[][] = [];
    while (chunks.length === 0) {
      written = announced.promise;
      chunks = await stored(execution);
      if (chunks.length === 0) await written;
    }
    assert.deepEqual(chunks, [[{ type: 'text', offset: 0, text: 'ab' }]]);
    stream.close();
  });

  test('are short, whatever the length of a text, and read some at a time', async () => {
    const execution = await claimed();
    const stream = streams.open(execution, owned);
    const long = 'x\u{1f642}'.repeat(300_000);
    stream.emit(text(long));
    const lengths = streams
      .find(execution.id)
      ?.events.map((event) => 'text' in event && event.text.length);
    assert.ok(lengths?.every((length) => Number(length) <= 16_384));
    let read = '';
    for (let after = { ...all, attempt: 1 }; read.length < long.length; ) {
      const written = announced.promise;
      const found = await readStreamChunks(db, execution.id, after);
      const chunks = found?.chunks ?? [];
      if (chunks.length === 0) await written;
      assert.ok(chunks.length <= chunksMax);
      for (const { number, events } of chunks) {
        const piece = (JSON.parse(events) as EmittedEvent[])
          .map((event) => ('text' in event ? event.text : ''))
          .join('');
        assert.ok(piece.length < 2 * 65_536 && piece.isWellFormed());
        read += piece;
        after = { attempt: 1, number };
      }
    }
    assert.equal(read, long);
    stream.close();
  });

  test('of a lost claim are neither written nor emitted', async () => {
    const execution = await claimed();
    const stream = streams.open(execution, owned);
    const written = announced.promise;
    await sql`update execution_queue set attempt = 2, worker = ${freshId()} where id = ${execution.id}`.execute(
      db,
    );
    stream.emit(text('a'));
    await written;
    assert.deepEqual(await stored(execution), []);
    stream.close();
  });

  test('of an ended execution are deleted', async () => {
    const [live, ended] = [await claimed(), await claimed()];
    for (const execution of [live, ended]) {
      const written = announced.promise;
      streams.open(execution, owned).emit(text('a'));
      await written;
    }
    await sql`delete from execution_queue where id = ${ended.id}`.execute(db);
    await deleteEndedStreams(db);
    const { rows } = await sql<{ id: string }>`
      select execution_id as id from stream_chunks where execution_id in (${live.id}, ${ended.id})`.execute(
      db,
    );
    assert.deepEqual(rows, [{ id: live.id }]);
  });
});

test('an attempt shows nothing while it does not own its execution, and all of it once it does again', async () => {
  const execution = await claimed();
  let isOwned = true;
  const stream = streams.open(execution, () => isOwned);
  const written = announced.promise;
  stream.emit(text('a'));
  assert.equal(streams.find(execution.id)?.events.length, 1);
  isOwned = false;
  stream.emit(text('b'));
  assert.equal(streams.find(execution.id), null);
  await written;
  isOwned = true;
  stream.emit(text('c'));
  const texts = streams.find(execution.id)?.events.map((event) => 'text' in event && event.text);
  assert.deepEqual(texts, ['a', 'b', 'c']);
  stream.close();
});

test('a later attempt replaces an earlier one, whose events are not emitted any more', async () => {
  const execution = await claimed();
  const earlier = streams.open(execution, owned);
  const later = streams.open({ ...execution, attempt: 2 }, owned);
  earlier.emit(text('a'));
  assert.deepEqual(streams.find(execution.id), { attempt: 2, events: [] });
  earlier.close();
  assert.equal(streams.find(execution.id)?.attempt, 2);
  later.close();
  assert.equal(streams.find(execution.id), null);
});

describe('what a reader has not seen', () => {
  const emitted = new EmittedEvents();
  const toolCall = { id: 'c', name: 'f', arguments: '{}' };
  for (const event of [
    { type: 'reasoning', text: 'hm' } as const,
    text('abc'),
    text('de'),
    { type: 'toolCall', toolCall } as const,
  ]) {
    emitted.add(event);
  }
  const read = (from: Parameters<typeof unseen>[1]) => {
    let position = from;
    return mergeTexts(emitted.all).flatMap((event) => {
      const found = unseen(event, position);
      if (found) position = found.position;
      return found ? [found.event] : [];
    });
  };
  const reasoning = { type: 'reasoning', offset: 0, at: 0, text: 'hm' };
  const tool = { type: 'tool', index: 0, at: 5, toolCall };

  test('is everything at the beginning', () => {
    assert.deepEqual(read(startOf(1)), [
      reasoning,
      { type: 'text', offset: 0, text: 'abcde' },
      tool,
    ]);
  });

  test('begins at the character, in whatever pieces the text came', () => {
    const at = (offset: number) => ({ attempt: 1, offset, reasoning: null, tools: null });
    assert.deepEqual(read(at(1)), [{ type: 'text', offset: 1, text: 'bcde' }, tool]);
    assert.deepEqual(read(at(5)), [tool]);
    assert.deepEqual(read(at(9)), []);
  });

  test('is nothing at the end', () => {
    assert.deepEqual(read({ attempt: 1, offset: 5, reasoning: 2, tools: 1 }), []);
  });
});
