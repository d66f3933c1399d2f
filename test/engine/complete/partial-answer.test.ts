import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { fromId, toId, uuid7 } from '../../../src/core/id.ts';
import type { Emit } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';
import { EmittedEvents, mergeTexts } from '../../../src/engine/stream/emitted-events.ts';
import { findPartialAnswer } from '../../../src/engine/stream/partial-answer.ts';
import { removeBodies } from '../../../src/features/history/statements/bodies.ts';

/** What a canceled call had received: its text, and its tokens as far as known. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const counts = { inputTokens: 12, outputTokens: 1, cacheReadTokens: 3, cacheWriteTokens: 0 };
const cost = { usd: '0', known: false };

function eventsOf(...emitted: Parameters<Emit>[0][]) {
  const events = new EmittedEvents();
  for (const event of emitted) events.add(event);
  return events.all;
}

test('what a stream had received is in the record of its cancel: tokens and text', async () => {
  const { path } = await cancelAfter(agent, 'The first ');
  const { body } = await service.call('GET', path, { key });
  assert.deepEqual([body.status, body.costKnown, body.output], ['canceled', false, undefined]);
  assert.deepEqual([body.inputTokens, body.outputTokens, body.tokensUsed], [12, 1, 13]);
  assert.deepEqual([body.partialText, body.outputText], ['The first ', undefined]);
  const { body: list } = await service.call('GET', `${agent.path}/executions`, { key });
  assert.equal(list.executions[0].partialText, 'The first ');
});

test('a canceled call that had received nothing has no partial text', async () => {
  const { path } = await cancelAfter(agent, '');
  const { body } = await service.call('GET', path, { key });
  assert.equal(body.partialText, undefined);
});

test('the text of a canceled call is found, and goes with the bodies', async () => {
  const { path, executionId } = await cancelAfter(agent, 'zebra crossing');
  const found = async () => {
    const url = `${agent.path}/executions?q=zebra`;
    return (await service.call('GET', url, { key })).body.executions.length;
  };
  assert.equal(await found(), 1);
  const id = fromId('execution', executionId) ?? '';
  await sql`update agents set bodies_days = 1 where id = ${agent.id}`.execute(service.db);
  const old = uuid7(Date.now() - 3 * 86_400_000);
  await sql`update executions set id = ${old}, executed_at = executed_at - interval '3 days' where id = ${id}`.execute(
    service.db,
  );
  await removeBodies(service.db, { agentId: agent.id, limit: 100 });
  const oldPath = path.replace(executionId, toId('execution', old));
  const { body } = await service.call('GET', oldPath, { key });
  assert.deepEqual([body.status, body.partialText], ['canceled', undefined]);
  assert.equal(await found(), 0);
});

test('an agent that stores no bodies stores no partial text', async () => {
  const bare = await addAgent(service);
  await sql`update agents set store_bodies = false where id = ${bare.id}`.execute(service.db);
  const { path } = await cancelAfter(bare, 'secret');
  const { body } = await service.call('GET', path, { key });
  assert.deepEqual([body.status, body.inputTokens, body.partialText], ['canceled', 12, undefined]);
});

/** Cancels an execution whose model has streamed this text. */
async function cancelAfter(called: TestAgent, text: string) {
  const arrived = Promise.withResolvers<void>();
  service.models.script(async (call, emit) => {
    emit({ type: 'usage', usage: counts, cost });
    if (text !== '') emit({ type: 'text', text });
    arrived.resolve();
    await new Promise((_, reject) => call.signal.addEventListener('abort', reject, { once: true }));
    return {};
  });
  const headers = { accept: 'text/event-stream' };
  const started = await fetch(`${service.url}${called.path}/execute`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ variables: { name: 'x' } }),
  });
  await arrived.promise;
  const list = await service.call('GET', `${called.path}/executions?include=processing`, { key });
  const { executionId } = list.body.executions[0];
  const path = `${called.path}/executions/${executionId}`;
  const canceled = await service.call('POST', `${path}/cancel`, { key });
  assert.equal(canceled.status, 200, JSON.stringify(canceled.body));
  await started.body?.cancel();
  return { path, executionId };
}

test('another process joins the chunks of the attempt, and passes over those of an earlier one', async () => {
  service.models.hold();
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { name: 'x' } } },
  });
  const id = fromId('execution', body.executionId) ?? '';
  const text = (value: string) => ({ type: 'text', text: value }) as const;
  const first = eventsOf({ type: 'usage', usage: counts, cost }, text('a'), text('b'));
  const later = { inputTokens: 12, outputTokens: 9, cacheReadTokens: 3, cacheWriteTokens: 0 };
  const all = eventsOf(text('ab'), { type: 'usage', usage: later, cost }, text('cd'));
  const chunks = [
    { number: 0, events: mergeTexts(first) },
    // Written from the beginning again.
    { number: 1, events: mergeTexts(all) },
  ];
  await sql`update execution_queue set attempt = 2 where id = ${id}`.execute(service.db);
  await sql`insert into stream_chunks (execution_id, attempt, number, events)
    values (${id}, 1, 0, ${JSON.stringify(eventsOf(text('old')))})`.execute(service.db);
  for (const { number, events } of chunks) {
    await sql`insert into stream_chunks (execution_id, attempt, number, events)
      values (${id}, 2, ${number}, ${JSON.stringify(events)})`.execute(service.db);
  }
  const found = await findPartialAnswer(service.db, null, id);
  assert.deepEqual(found, { text: 'abcd', usage: later });
  await service.call('POST', `${agent.path}/executions/${body.executionId}/cancel`, { key });
});
