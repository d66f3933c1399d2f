import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addEndpoint } from '../../harness/endpoints.ts';
import { startReceiver, toReceivers } from '../../harness/receiver.ts';
import { startService } from '../../harness/service.ts';
import { createClient, verifyWebhook } from '../../src/client/index.ts';
import { signedHeaders } from '../../src/core/event/sign.ts';
import { generateWebhookSecret } from '../../src/core/standard-webhooks.ts';
import { failure, json, stage } from './server.ts';

const secret = generateWebhookSecret();
const body = JSON.stringify({
  type: 'ping',
  timestamp: '2026-11-29T00:00:00.000Z',
  data: { endpointId: 'end_é' },
});
const signed = (atMs = Date.now(), secrets = [secret]) =>
  signedHeaders({ id: 'evt_1', atMs, body }, secrets);

test('an event that the server sends is verified, also while its secret is replaced', async () => {
  const service = await startService({ config: toReceivers });
  after(service.close);
  const { key } = await service.key();
  const receiver = await startReceiver();
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url });
  const rotated = await endpoint.call('POST', '/rotate', { graceSeconds: 600 });
  await endpoint.call('POST', '/test');
  const [request] = await receiver.received(1);
  assert.ok(request);
  for (const given of [
    endpoint.secret,
    rotated.secret,
    [generateWebhookSecret(), rotated.secret],
  ]) {
    const event = await verifyWebhook(request.body, request.headers, given);
    assert.equal(event.type, 'ping');
    assert.deepEqual(
      [event.id, event.data.endpointId],
      [request.headers['webhook-id'], endpoint.endpointId],
    );
  }
});

test('bytes and text, and headers of fetch and of Node, are accepted', async () => {
  const expected = { id: 'evt_1', ...JSON.parse(body) };
  const bytes = new TextEncoder().encode(body);
  const longer = new Uint8Array([0, ...bytes, 0]).subarray(1, -1);
  for (const given of [body, bytes, longer, bytes.buffer, Buffer.from(body)]) {
    assert.deepEqual(await verifyWebhook(given, new Headers(signed()), ` ${secret}\n`), expected);
    assert.deepEqual(await verifyWebhook(given, signed(), secret), expected);
  }
  const others = { ...signed(), 'webhook-signature': `v1,x v2,y ${signed()['webhook-signature']}` };
  assert.deepEqual(await verifyWebhook(body, others, secret), expected);
});

test('what Cueline did not sign, or long ago, is INVALID_SIGNATURE', async () => {
  const old = Date.now() - 400_000;
  for (const [given, headers, by] of [
    [`${body} `, signed(), secret],
    [body, signed(), generateWebhookSecret()],
    [body, signed(old), secret],
    [body, signed(Date.now() + 400_000), secret],
    [body, { ...signed(), 'webhook-timestamp': 'NaN' }, secret],
    [body, { ...signed(), 'webhook-id': 'evt_2' }, secret],
    [body, { ...signed(), 'webhook-signature': '' }, secret],
    [body, {}, secret],
    [body, new Headers(), secret],
  ] as const) {
    const error = await failure(verifyWebhook(given, headers, by));
    assert.deepEqual([error.code, error.status], ['INVALID_SIGNATURE', 0]);
  }
  assert.equal(
    (await verifyWebhook(body, signed(old), secret, { toleranceSeconds: 600 })).type,
    'ping',
  );
});

test('a parsed body, and what is no secret, is a mistake that names it without quoting it', async () => {
  await assert.rejects(
    verifyWebhook(JSON.parse(body), signed(), secret),
    /^TypeError: Pass the body as received/,
  );
  for (const wrong of ['', 'whsec_', 'sk_live_1', 'whsec_ä']) {
    await assert.rejects(
      verifyWebhook(body, signed(), wrong),
      /^TypeError: The secret is none of an endpoint, which begins with whsec_\.$/,
    );
  }
});

test('a key is trimmed; an empty one, or one with other characters, is refused at once and not quoted', async (t) => {
  const { client, requests } = await stage(t, json(200, {}));
  await client({ key: ' cue_secret\n' }).status('agt_1', 'exe_1');
  assert.equal(requests[0]?.headers.authorization, 'Bearer cue_secret');
  for (const key of ['', ' \n', 'cue_se\ncret', 'cue_se cret', 'cue_sécret']) {
    assert.throws(
      () => createClient({ baseURL: '', key }),
      (error: Error) => {
        assert.equal(error.name, 'TypeError');
        assert.doesNotMatch(error.message, /cue_|cret/);
        return true;
      },
    );
  }
});
