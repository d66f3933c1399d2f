import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventsIn, singleAgent, stream } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';
import type { Emit } from '../../../../src/core/model/model-port.ts';
import { ModelFailure, noDetails } from '../../../../src/core/model/model-port.ts';

/** Streams while the model writes. */

const service = await startService();
after(service.close);
const { models } = service;
const { key } = await service.key({ permissions: ['execute'] });
await singleAgent(service, { agentName: 'One' });
const path = '/v1/responses';
const body = { model: 'one', input: 'x', stream: true };

const deltasOf = (events: { type: string; delta?: string }[]) =>
  events.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? delta : []));

/** The events of a call. Calls `onHello` once the client has the text "Hello ". */
async function follow(onHello: () => void, by = key) {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (deltasOf(eventsIn(text)).join('') === 'Hello ') onHello();
  }
  return eventsIn(text);
}

test('text is sent while the model writes', async () => {
  const shown = Promise.withResolvers<void>();
  models.script(async (_call, emit) => {
    emit({ type: 'text', text: 'Hello ' });
    await shown.promise;
    return { text: 'world' };
  });
  const events = await follow(shown.resolve);
  assert.equal(deltasOf(events).join(''), 'Hello world');
  const last = events.at(-1);
  assert.deepEqual([last.type, last.response.status], ['response.completed', 'completed']);
  assert.equal(last.response.output[0].content[0].text, 'Hello world');
});

test('reasoning after the beginning of the text comes with the end', async () => {
  const { key: reader } = await service.key({ permissions: ['execute', 'read'] });
  const shown = Promise.withResolvers<void>();
  models.script(async (_call, emit) => {
    emit({ type: 'text', text: 'Hello ' });
    await shown.promise;
    emit({ type: 'reasoning', text: 'Let me see.' });
    return { text: 'world', details: { ...noDetails, reasoningText: 'Let me see.' } };
  });
  const events = await follow(shown.resolve, reader);
  const added = events.filter(({ type }) => type === 'response.output_item.added');
  assert.deepEqual(
    added.map(({ output_index, item }) => [output_index, item.type]),
    [
      [0, 'message'],
      [1, 'reasoning'],
    ],
  );
  const thoughts = events.filter(({ type }) => type === 'response.reasoning_summary_text.delta');
  assert.deepEqual(
    thoughts.map(({ delta }) => delta),
    ['Let me see.'],
  );
  const numbers = events.map((event) => event.sequence_number);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
  const { output } = events.at(-1).response;
  assert.deepEqual(
    output.map(({ type }: { type: string }) => type),
    ['reasoning', 'message'],
  );
});

test('a further attempt goes on where its text agrees, and ends the stream where it does not', async () => {
  for (const later of ['Hello world', 'Goodbye']) {
    const shown = Promise.withResolvers<void>();
    const cut = async (_call: unknown, emit: Emit) => {
      emit({ type: 'text', text: 'Hello ' });
      await shown.promise;
      throw new ModelFailure('PROVIDER_ERROR', 'Cut.', { retryable: true, retryAfterMs: 1 });
    };
    models.script(cut, { text: later });
    const events = await follow(shown.resolve);
    const { id } = events[0].response;
    const last = events.at(-1);
    if (later === 'Goodbye') {
      assert.deepEqual([last.type, last.code], ['error', 'RESTARTED']);
      assert.equal(deltasOf(events).join(''), 'Hello ');
    } else {
      assert.equal(last.type, 'response.completed');
      assert.equal(deltasOf(events).join(''), later);
      const after = events.find(({ delta }) => delta === 'Hello ').sequence_number;
      const again = await stream(service, `${path}/${id}?stream=true&starting_after=${after}`, key);
      assert.equal(again.events[0].code, 'RESTARTED');
    }
    for (;;) {
      const read = await service.call('GET', `${path}/${id}`, { key });
      if (['in_progress', 'queued'].includes(read.body.status)) continue;
      assert.equal(read.body.output[0].content[0].text, later);
      break;
    }
  }
});
