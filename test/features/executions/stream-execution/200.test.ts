import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { addAgent, ended, run } from '../../../../harness/agents.ts';
import {
  openEvents,
  type ReceivedEvent,
  readEvents,
  textOfEvents,
} from '../../../../harness/read-events.ts';
import { startService } from '../../../../harness/service.ts';
import type { ModelEvent } from '../../../../src/core/model/model-port.ts';
import { ModelFailure } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
const other = await startService({ sharedWith: service, role: 'api' });
after(async () => {
  await other.close();
  await service.close();
});
const { key } = await service.key();
const agent = await addAgent(service);
const text = (value: string): ModelEvent => ({ type: 'text', text: value });

/** An execution whose model emits what the test tells it to, in either attempt. */
async function start(body: object = { stream: true }) {
  const held = Promise.withResolvers<(event: ModelEvent) => void>();
  const release = Promise.withResolvers<string | ModelFailure>();
  service.models.script(async (_call, emit) => {
    held.resolve(emit);
    const end = await release.promise;
    if (end instanceof ModelFailure) throw end;
    return { text: end };
  });
  const accepted = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { name: 'you' }, ...body },
  });
  const { statusUrl, executionId } = accepted.body;
  return { statusUrl, executionId, emit: await held.promise, end: release.resolve };
}

const types = (events: readonly ReceivedEvent[]) => events.map(({ event }) => event);
const is = (type: string) => (event: ReceivedEvent) => event.event === type;
const textIs = (whole: string) => (event: ReceivedEvent) => {
  const { offset = 0, text: piece = '' } = event.data;
  return event.event === 'text' && offset + piece.length === whole.length;
};

describe('in any process', () => {
  for (const [name, at] of Object.entries({ 'the same': service, another: other })) {
    test(`text arrives before the end, in ${name}`, async () => {
      const { statusUrl, emit, end } = await start();
      const stream = await openEvents(`${at.url}${statusUrl}/stream`, { key });
      assert.equal(stream.status, 200);
      assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      assert.equal(stream.headers.get('cache-control'), 'no-store');
      assert.equal(stream.headers.get('x-accel-buffering'), 'no');
      emit({ type: 'reasoning', text: 'Hm.' });
      emit(text('Hello'));
      const first = await stream.until(textIs('Hello'));
      assert.equal(first[0]?.event, 'status');
      assert.equal(first[0]?.data.status, 'processing');
      const [reasoning] = first.filter(is('reasoning'));
      assert.deepEqual(reasoning?.data, { attempt: 1, offset: 0, text: 'Hm.' });
      const last = first.at(-1);
      assert.deepEqual([last?.id, last?.data.attempt], ['1.5', 1]);
      emit(text(', \u{1f642}'));
      const second = await stream.until(textIs('Hello, \u{1f642}'));
      assert.deepEqual(second.at(-1)?.data, { attempt: 1, offset: 5, text: ', \u{1f642}' });
      assert.equal(second.at(-1)?.id, '1.9');
      end('.');
      const rest = await stream.until(() => false);
      assert.deepEqual(types(rest), ['text', 'end']);
      const record = rest.at(-1)?.data;
      assert.deepEqual([record.status, record.outputText], ['success', 'Hello, \u{1f642}.']);
      assert.equal(textOfEvents([...first, ...second, ...rest]), record.outputText);
      assert.ok(record.firstTextMs >= 0 && record.firstTextMs <= record.latencyMs);
      const { body } = await at.call('GET', statusUrl, { key });
      assert.deepEqual(record, body);
    });

    test(`a later attempt voids the text, in ${name}`, async () => {
      const first = await start();
      const stream = await openEvents(`${at.url}${first.statusUrl}/stream`, { key });
      first.emit(text('Hel'));
      const before = await stream.until(textIs('Hel'));
      const second = Promise.withResolvers<void>();
      service.models.script(async (_call, emit) => {
        emit(text('Good'));
        await second.promise;
        return { text: ' day' };
      });
      first.end(new ModelFailure('PROVIDER_ERROR', 'broken', { retryable: true }));
      const after = await stream.until(textIs('Good'));
      const [restart] = after.filter(is('restart'));
      assert.deepEqual([restart?.id, restart?.data], ['2.0', { attempt: 2 }]);
      assert.deepEqual(types(after), ['restart', 'status', 'text']);
      assert.equal(after[1]?.data.attempts, 2);
      // A reader that names the earlier attempt learns first that its text is void.
      const late = await openEvents(`${at.url}${first.statusUrl}/stream?after=1.3`, { key });
      const [event] = await late.until(() => true);
      assert.deepEqual([event?.event, event?.data], ['restart', { attempt: 2 }]);
      late.close();
      second.resolve();
      const rest = await stream.until(() => false);
      assert.equal(textOfEvents([...before, ...after, ...rest]), 'Good day');
    });

    test(`a reader resumes at its character, in ${name}`, async () => {
      const { statusUrl, emit, end } = await start();
      emit(text('abc'));
      emit(text('def'));
      for (const [query, headers] of [
        ['?after=1.4', {}],
        ['?after=1.1', { 'last-event-id': '1.4' }],
      ] as const) {
        const stream = await openEvents(`${at.url}${statusUrl}/stream${query}`, { key, headers });
        const [piece] = (await stream.until(is('text'))).filter(is('text'));
        assert.deepEqual(piece?.data, { attempt: 1, offset: 4, text: 'ef' });
        stream.close();
      }
      end('');
      await ended(service, statusUrl, key);
    });
  }
});

describe('after the end', () => {
  test('the record has the rest of the text, from any position', async () => {
    const { statusUrl, end } = await start();
    end('Hello');
    await ended(service, statusUrl, key);
    for (const [query, expected] of [
      ['', ['text 0 Hello', 'end']],
      ['?after=1.2', ['text 2 llo', 'end']],
      ['?after=1.5', ['end']],
      ['?after=1.9', ['end']],
      ['?after=0.2', ['restart', 'text 0 Hello', 'end']],
    ] as const) {
      const events = await readEvents(`${other.url}${statusUrl}/stream${query}`, { key });
      const shown = events.map(({ event, data }) =>
        event === 'text' ? `text ${data.offset} ${data.text}` : event,
      );
      assert.deepEqual(shown, expected, query);
    }
  });

  test('an execution that was not read as a stream delivers its text in one piece', async () => {
    const { executionId } = await run(service, agent, key);
    const path = `${agent.path}/executions/${executionId}/stream`;
    const events = await readEvents(service.url + path, { key });
    assert.deepEqual(types(events), ['text', 'end']);
    assert.deepEqual(events[0]?.data, { attempt: 1, offset: 0, text: 'Hello you' });
    assert.equal(events[1]?.data.firstTextMs, undefined);
  });

  test('a failed execution has no text', async () => {
    service.models.script(new ModelFailure('PROVIDER_AUTH', 'no'));
    const { executionId } = await run(service, agent, key);
    const path = `${agent.path}/executions/${executionId}/stream`;
    const events = await readEvents(service.url + path, { key });
    assert.deepEqual(types(events), ['end']);
    assert.equal(events[0]?.data.errorCode, 'PROVIDER_AUTH');
  });

  test('a tool call arrives before the end', async () => {
    const toolCall = { id: 'c', name: 'search', arguments: { q: 'x' } };
    const finishReason = 'tool-calls';
    service.models.script({ text: '', toolCalls: [toolCall], finishReason });
    const { executionId } = await run(service, agent, key);
    const path = `${agent.path}/executions/${executionId}/stream`;
    const events = await readEvents(service.url + path, { key });
    assert.deepEqual(types(events), ['tool', 'end']);
    assert.deepEqual(events[0]?.data, { attempt: 1, ...toolCall });
  });

  test('and after retention, the text is gone', async () => {
    const { executionId } = await run(service, agent, key);
    await sql`update executions set output = null where output = 'Hello you'`.execute(service.db);
    const path = `${agent.path}/executions/${executionId}/stream?after=1.2`;
    const events = await readEvents(service.url + path, { key });
    assert.deepEqual(types(events), ['gone', 'end']);
    assert.deepEqual(events[0]?.data, { reason: 'retention' });
  });
});

test('a canceled execution ends its stream', async () => {
  const { statusUrl, emit } = await start();
  const stream = await openEvents(`${other.url}${statusUrl}/stream`, { key });
  emit(text('Hel'));
  await stream.until(is('text'));
  await service.call('POST', `${statusUrl}/cancel`, { key });
  const events = await stream.until(() => false);
  assert.equal(events.at(-1)?.data.status, 'canceled');
});

test('the workers write the whole text again after a crash of PostgreSQL', async () => {
  const { statusUrl, emit, end } = await start();
  emit(text('abc'));
  const stream = await openEvents(`${other.url}${statusUrl}/stream`, { key });
  await stream.until(textIs('abc'));
  await sql`truncate stream_chunks`.execute(service.db);
  emit(text('def'));
  const events = await stream.until(is('text'));
  assert.deepEqual(events.at(-1)?.data, { attempt: 1, offset: 3, text: 'def' });
  const fresh = await openEvents(`${other.url}${statusUrl}/stream`, { key });
  assert.equal(textOfEvents(await fresh.until(textIs('abcdef'))), 'abcdef');
  fresh.close();
  end('');
  await stream.until(() => false);
});
