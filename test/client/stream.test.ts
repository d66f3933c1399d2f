import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CuelineError, type StreamEvent } from '../../src/client/index.ts';
import { json, type Step, stage } from './server.ts';

/** Following an execution against scripted servers. */

const event = (type: string, data: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
const text = (offset: number, piece: string) =>
  event('text', { attempt: 1, offset, text: piece }, `1.${offset + piece.length}`);

/** A stream of these pieces; then its end, or a cut. */
function streaming(pieces: readonly string[], isCut = false): Step {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const piece of pieces) await new Promise((done) => response.write(piece, done));
    if (isCut) response.socket?.destroy();
    else response.end();
  };
}

async function all(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  return Array.fromAsync(events);
}

test('events arrive whole, however they are cut, and comments are skipped', async (t) => {
  const whole = [':\n\n', text(0, 'Hé'), text(2, '\u{1f642}'), event('end', { status: 'success' })];
  const bytes = Buffer.from(whole.join(''));
  const pieces = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
  const { client } = await stage(t, streaming(pieces as unknown as string[]));
  const events = await all(client().stream('agt_1', 'exe_1'));
  assert.deepEqual(events, [
    { type: 'text', id: '1.2', data: { attempt: 1, offset: 0, text: 'Hé' } },
    { type: 'text', id: '1.4', data: { attempt: 1, offset: 2, text: '\u{1f642}' } },
    { type: 'end', id: null, data: { status: 'success' } },
  ]);
});

test('a lost connection is opened again where it was lost', async (t) => {
  const { client, requests, delays } = await stage(
    t,
    streaming([text(0, 'Hel')], true),
    streaming([text(3, 'lo')]),
    json(503, { code: 'UNAVAILABLE', message: 'Draining.' }, { 'retry-after': '1' }),
    streaming([event('end', { status: 'success' })]),
  );
  const events = await all(client().stream('agt_1', 'exe_1', { after: '0.7' }));
  assert.deepEqual(
    events.map(({ type }) => type),
    ['text', 'text', 'end'],
  );
  assert.deepEqual(
    requests.map(({ url, headers }) => [url, headers['last-event-id'], headers.accept]),
    ['0.7', '1.3', '1.5', '1.5'].map((id) => [
      '/api/v1/agents/agt_1/executions/exe_1/stream',
      id,
      'text/event-stream',
    ]),
  );
  assert.equal(delays.length, 3);
});

test('only failures in a row count', async (t) => {
  const cut = (at: number) => streaming([text(at, 'x')], true);
  const cuts = Array.from({ length: 11 }, (_, at) => cut(at + 1));
  const end = streaming([event('end', { status: 'success' })]);
  const { client } = await stage(t, cut(0), ...cuts, end);
  const events = await all(client().stream('agt_1', 'exe_1'));
  assert.equal(events.length, 13);
});

test('what cannot be repeated is thrown', async (t) => {
  const { client, requests } = await stage(t, json(404, { code: 'NOT_FOUND', message: 'No.' }));
  await assert.rejects(all(client().stream('agt_1', 'exe_1')), { code: 'NOT_FOUND' });
  assert.equal(requests.length, 1);
});

test('a server that ends every stream is given up', async (t) => {
  const { client, requests } = await stage(t, streaming([]));
  await assert.rejects(all(client().stream('agt_1', 'exe_1')), CuelineError);
  assert.equal(requests.length, 11);
});

test('an abort ends it', async (t) => {
  const stopping = new AbortController();
  const { client } = await stage(t, streaming([text(0, 'a'), text(1, 'b')]));
  const events = client().stream('agt_1', 'exe_1', { signal: stopping.signal });
  await events.next();
  stopping.abort(new Error('enough'));
  await assert.rejects(all(events), /enough/);
});
