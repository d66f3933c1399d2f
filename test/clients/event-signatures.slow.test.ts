import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clientResult, skipWithout } from '../../harness/clients.ts';
import { addEndpoint } from '../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../harness/receiver.ts';
import { startService } from '../../harness/service.ts';

/** Events are verified by the libraries that receivers use. */

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();

test('svix and openai accept both secrets of a rotation and refuse a changed body', {
  skip: skipWithout('svix'),
}, async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  const { secret } = await endpoint.call('POST', '/rotate', { graceSeconds: 600 });
  await endpoint.call('POST', '/test');
  const [request] = await receiver.received(1);
  assert.ok(request);
  const headers = JSON.stringify(request.headers);
  const accepting = (by: string, body: string) =>
    clientResult('event-signatures.mjs', by, body, headers);
  for (const one of [secret, endpoint.secret]) {
    assert.deepEqual(await accepting(one, request.body), ['svix', 'openai']);
  }
  assert.deepEqual(await accepting(secret, `${request.body} `), []);
});
