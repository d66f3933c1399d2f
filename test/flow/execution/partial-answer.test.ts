import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { fromId } from '../../../src/core/id.ts';
import type { Emit } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';
import { EmittedEvents, mergeTexts } from '../../../src/flow/execution/emitted-events.ts';
import { findPartialAnswer } from '../../../src/flow/execution/partial-answer.ts';

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

test('the tokens that a stream has reported are in the record of its cancel', async () => {
  const arrived = Promise.withResolvers<void>();
  service.models.script(async (call, emit) => {
    emit({ type: 'usage', usage: counts, cost });
    emit({ type: 'text', text: 'The first ' });
    arrived.resolve();
    await new Promise((_, reject) => call.signal.addEventListener('abort', reject, { once: true }));
    return {};
  });
  const headers = { accept: 'text/event-stream' };
  const started = await fetch(`${service.url}${agent.path}/execute`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ variables: { name: 'x' } }),
  });
  await arrived.promise;
  const list = await service.call('GET', `${agent.path}/executions?include=processing`, { key });
  const { executionId } = list.body.executions[0];
  const path = `${agent.path}/executions/${executionId}`;
  const canceled = await service.call('POST', `${path}/cancel`, { key });
  assert.equal(canceled.status, 200, JSON.stringify(canceled.body));
  await started.body?.cancel();
  const { body } = await service.call('GET', path, { key });
  assert.deepEqual([body.status, body.costKnown, body.output], ['canceled', false, undefined]);
  assert.deepEqual([body.inputTokens, body.outputTokens, body.tokensUsed], [12, 1, 13]);
});

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
