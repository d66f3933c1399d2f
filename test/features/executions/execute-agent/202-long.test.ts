import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { inlineCharsMax } from '../../../../src/core/compute.ts';

/** A long body is parsed once its key is known, and enters admission like any other. */

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const unlimited = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };
const long = 'x'.repeat(inlineCharsMax);

function send(key: string, body: string, headers: Record<string, string> = {}) {
  return service.call('POST', `${agent.path}/execute`, { key, body, headers });
}

test('its variables are kept as they were sent', async () => {
  const { key } = await service.key();
  const accepted = await send(key, `{"variables":{"name":1.0,"other":"${long}"},"user":"ada"}`);
  assert.equal(accepted.status, 202);
  assert.deepEqual(accepted.body.ignoredVariables, ['other']);
  const { body } = await service.call('GET', `${accepted.body.statusUrl}?wait=30`, { key });
  assert.deepEqual([body.outputText, body.user], ['Hello 1.0', 'ada']);
});

test('the same Idempotency-Key with the same body is a replay, with another body it is refused', async () => {
  const { key } = await service.key();
  const headers = { 'idempotency-key': 'one' };
  const [first, again, other] = [
    await send(key, `{"variables":{"name":"${long}"}}`, headers),
    await send(key, `{ "variables": {"name":"${long}"}}`, headers),
    await send(key, `{"variables":{"name":"${long}y"}}`, headers),
  ];
  assert.deepEqual([first.status, again.status, other.status], [202, 202, 422]);
  assert.equal(again.body.executionId, first.body.executionId);
});

test('one that is malformed counts for the limit of its key, which decides first', async () => {
  const { key } = await service.key({ rateLimits: { ...unlimited, requestsPerDay: 1 } });
  const malformed = `{"variables":{"name":"${long}"`;
  assert.deepEqual(
    [(await send(key, malformed)).body.code, (await send(key, malformed)).body.code],
    ['MALFORMED_BODY', 'RATE_LIMIT_EXCEEDED'],
  );
});
