import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { bodyBytesMax, chatBody, fullBody, thinData } from '../../../src/core/event/event.ts';
import { signedHeaders } from '../../../src/core/event/sign.ts';
import { generateWebhookSecret } from '../../../src/core/standard-webhooks.ts';

const event = {
  id: '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41',
  type: 'execution.succeeded',
  at: new Date('2026-11-21T09:30:00.000Z'),
  sequence: 7,
  data: '{"executionId":"exe_1","tokensUsed":12,"user":null}',
} as const;
const full = { outputText: 'Héllo', outputJson: '{"a":1.0}', inputVariables: '{"b":[]}' };

test('the sequence is added to the data', () => {
  assert.equal(thinData(event), '{"executionId":"exe_1","tokensUsed":12,"user":null,"sequence":7}');
  assert.equal(thinData({ data: '{}', sequence: 1 }), '{"sequence":1}');
});

test('a full body adds the output and the variables', () => {
  assert.deepEqual(JSON.parse(fullBody(event, full)), {
    type: 'execution.succeeded',
    timestamp: '2026-11-21T09:30:00.000Z',
    data: {
      ...JSON.parse(thinData(event)),
      ...{ outputText: 'Héllo', outputJson: { a: 1 }, inputVariables: { b: [] } },
    },
  });
  assert.match(fullBody(event, full), /"outputJson":\{"a":1\.0\}/);
});

test('deleted data is sent thin as gone, and a large body thin as truncated', () => {
  const thin = JSON.parse(thinData(event));
  assert.deepEqual(JSON.parse(fullBody(event, 'gone')).data, { ...thin, gone: true });
  assert.deepEqual(JSON.parse(fullBody(event, 'large')).data, { ...thin, truncated: true });
  const room = bodyBytesMax - Buffer.byteLength(fullBody(event, { ...full, outputText: '' }));
  const fitting = fullBody(event, { ...full, outputText: 'x'.repeat(room) });
  assert.equal(Buffer.byteLength(fitting), bodyBytesMax);
  const larger = fullBody(event, { ...full, outputText: 'x'.repeat(room + 1) });
  assert.deepEqual(JSON.parse(larger).data, { ...thin, truncated: true });
});

test('a chat message is one text', () => {
  assert.deepEqual(JSON.parse(chatBody(event)), {
    text: '*execution.succeeded* · executionId: exe_1 · tokensUsed: 12',
  });
});

test('values of callers in a chat message are plain text', () => {
  const user = '<!channel> *b* _i_ [x](https://evil.example) & <@U1>\u202e\nwww.evil.example @here';
  const { text } = JSON.parse(
    chatBody({ ...event, data: JSON.stringify({ executionId: 'exe_1', user }) }),
  );
  assert.equal(
    text,
    '*execution.succeeded* · executionId: exe_1 · user: &lt;!channel&gt; ∗b∗ ＿i＿ ［x］(https：//evil․example) &amp; &lt;＠U1&gt; www․evil․example ＠here',
  );
  const alert = { name: 'F* <!here>', metric: 'count', value: 1.5, threshold: 1, alertId: 'alr_1' };
  const fired = JSON.parse(
    chatBody({ ...event, type: 'alert.fired', data: JSON.stringify(alert) }),
  );
  assert.equal(fired.text, '*Alert fired: F∗ &lt;!here&gt;* · count is 1.5, threshold 1 · alr_1');
});

test('each secret signs the id, the time and the body', () => {
  const secrets = [generateWebhookSecret(), generateWebhookSecret()];
  const headers = signedHeaders({ id: 'evt_1', atMs: Date.now(), body: '{"a":1}' }, secrets);
  for (const secret of secrets) {
    assert.doesNotThrow(() => new Webhook(secret).verify('{"a":1}', headers));
  }
  assert.throws(() => new Webhook(generateWebhookSecret()).verify('{"a":1}', headers));
  assert.throws(() => new Webhook(String(secrets[0])).verify('{"a":2}', headers));
});
