import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { singleAgent, stream } from '../../../../harness/openai-agents.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure, noDetails } from '../../../../src/core/model/model-port.ts';

const service = await startService();
after(service.close);
const { key } = await service.key({ permissions: ['execute'] });
await singleAgent(service, { agentName: 'One' });
const tools = await singleAgent(service, { agentName: 'Tools', allowTools: true });
const path = '/v1/responses';

const types = (events: { type: string }[]) => events.map(({ type }) => type);

test('the events build the response, with growing sequence numbers', async () => {
  const body = { model: 'one', input: 'Why?', stream: true };
  const { response, events } = await stream(service, path, key, body);
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  assert.equal(response.headers.get('x-accel-buffering'), 'no');
  assert.deepEqual(types(events), [
    ...['response.created', 'response.in_progress', 'response.output_item.added'],
    ...['response.content_part.added', 'response.output_text.delta', 'response.output_text.done'],
    ...['response.content_part.done', 'response.output_item.done', 'response.completed'],
  ]);
  const numbers = events.map((event) => event.sequence_number);
  const length = 'Answer: Why?'.length;
  assert.deepEqual(numbers, [0, 1, 2, 3, ...[0, 1, 2, 3, 4].map((n) => 3 + length + n)]);
  assert.deepEqual([events[0].response.status, events[0].response.output], ['in_progress', []]);
  assert.equal(events[4].delta, 'Answer: Why?');
  const { response: last } = events[8];
  assert.deepEqual([last.status, last.output[0].content[0].text], ['completed', 'Answer: Why?']);
  const read = await service.call('GET', `${path}/${last.id}`, { key });
  assert.deepEqual(read.body.output, last.output);
});

test('a later stream continues after a sequence number', async () => {
  const body = { model: 'one', input: 'Why not?', stream: true };
  const all = (await stream(service, path, key, body)).events;
  const { id } = all[0].response;
  const text = 'Answer: Why not?';
  for (const after of [null, 0, 3, 3 + 8, 3 + text.length, 3 + text.length + 3]) {
    const query = after === null ? '' : `&starting_after=${after}`;
    const { events } = await stream(service, `${path}/${id}?stream=true${query}`, key);
    const expected = all.filter((event) => event.sequence_number > (after ?? -1));
    assert.deepEqual(types(events), types(expected), `${after}`);
    const delta = events.find(({ type }) => type === 'response.output_text.delta')?.delta;
    const rest = text.slice(Math.max(0, (after ?? 0) - 3));
    assert.equal(delta ?? '', rest);
  }
});

const deltas = (events: { type: string; delta?: string }[], kind: string) =>
  events.flatMap(({ type, delta }) => (type === `response.${kind}.delta` ? (delta ?? '') : []));

const summary = 'reasoning_summary_text';
const details = { ...noDetails, reasoningText: 'Let me see.' };

test('reasoning before the text is an item of its own, and a later stream continues in it', async () => {
  const { key: reader } = await service.key({ permissions: ['execute', 'read'] });
  service.models.script(async (_call, emit) => {
    emit({ type: 'reasoning', text: 'Let me ' });
    emit({ type: 'reasoning', text: 'see.' });
    emit({ type: 'text', text: 'Because.' });
    return { text: '', details };
  });
  const body = { model: 'one', input: 'Why?', stream: true };
  const all = (await stream(service, path, reader, body)).events;
  const added = all.filter(({ type }) => type === 'response.output_item.added');
  assert.deepEqual(
    added.map(({ output_index, item }) => [output_index, item.type]),
    [
      [0, 'reasoning'],
      [1, 'message'],
    ],
  );
  assert.equal(deltas(all, summary).join(''), 'Let me see.');
  assert.equal(deltas(all, 'output_text').join(''), 'Because.');
  const numbers = all.map((event) => event.sequence_number);
  assert.deepEqual(
    numbers,
    [...new Set(numbers)].sort((a, b) => a - b),
  );
  const { response } = all.at(-1);
  const done = all.filter(({ type }) => type === 'response.output_item.done');
  assert.deepEqual(
    done.map(({ item }) => item),
    response.output,
  );
  assert.deepEqual([added[0].item.id, added[1].item.id], response.output.map(idOf));
  for (const after of numbers) {
    const later = `${path}/${response.id}?stream=true&starting_after=${after}`;
    const { events } = await stream(service, later, reader);
    for (const [kind, whole] of [
      [summary, 'Let me see.'],
      ['output_text', 'Because.'],
    ] as const) {
      const had = deltas(
        all.filter((event) => event.sequence_number <= after),
        kind,
      );
      assert.equal([...had, ...deltas(events, kind)].join(''), whole, `${after}`);
    }
    assert.equal(events.at(-1)?.type ?? 'response.completed', 'response.completed');
  }
});

const idOf = ({ id }: { id: string }) => id;

test('calls of functions and refusals', async () => {
  service.models.script({
    ...{ text: '', finishReason: 'tool-calls' },
    toolCalls: [{ id: 'c1', name: 'find', arguments: { q: 1 } }],
  });
  const offered = [{ type: 'function', name: 'find', parameters: {} }];
  const body = { model: tools.slug, input: 'x', tools: offered, stream: true };
  const { events } = await stream(service, path, key, body);
  assert.deepEqual(types(events).slice(2), [
    ...['response.output_item.added', 'response.function_call_arguments.delta'],
    ...['response.function_call_arguments.done', 'response.output_item.done', 'response.completed'],
  ]);
  assert.deepEqual([events[2].item.arguments, events[4].arguments], ['', '{"q":1}']);
});

test('a failed execution ends with response.failed, a refused call has its status', async () => {
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'No.'));
  const body = { model: 'one', input: 'x', stream: true };
  const { events } = await stream(service, path, key, body);
  const last = events.at(-1);
  assert.deepEqual([last.type, last.response.error.code], ['response.failed', 'PROVIDER_AUTH']);
  // What a client has seen of the text is not in the record.
  const { id } = last.response;
  for (const seen of [18, 2 ** 32 + 18]) {
    const again = await stream(service, `${path}/${id}?stream=true&starting_after=${seen}`, key);
    const numbered = again.events.map(({ type, sequence_number }) => [type, sequence_number]);
    assert.deepEqual(numbered, [['response.failed', seen + 1]]);
  }
  const { response } = await stream(service, path, key, { ...body, model: 'nothing' });
  assert.equal(response.status, 404);
});
