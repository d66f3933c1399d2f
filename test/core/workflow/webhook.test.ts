import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { generateWebhookSecret } from '../../../src/core/standard-webhooks.ts';
import {
  checkSignature,
  type SignatureHeaders,
  toleranceMs,
} from '../../../src/features/workflows/rules/webhook.ts';

const nowMs = Date.parse('2026-11-21T09:30:00Z');
const payload = '{"ticket":"Où est mon colis?"}';

function isSigned(
  secret: string,
  { payload: body, ...headers }: SignatureHeaders & { readonly payload: string },
  atMs: number,
): boolean {
  const check = checkSignature(secret, headers);
  // In chunks, as it arrives.
  const bytes = Buffer.from(body);
  check.update(bytes.subarray(0, 5));
  check.update(bytes.subarray(5));
  return check.result(atMs) === 'valid';
}

function signed(secret: string, atMs = nowMs, id = 'msg_1') {
  const signature = new Webhook(secret).sign(id, new Date(atMs), payload);
  return { id, timestamp: String(Math.floor(atMs / 1000)), signature, payload };
}

test('accepts signatures of the reference library within five minutes in both directions', () => {
  const secret = generateWebhookSecret();
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(isSigned(secret, signed(secret), nowMs), true);
  for (const [offMs, valid] of [
    [toleranceMs, true],
    [-toleranceMs, true],
    [toleranceMs + 1_000, false],
    [-toleranceMs - 1_000, false],
  ] as const) {
    assert.equal(isSigned(secret, signed(secret, nowMs + offMs), nowMs), valid, String(offMs));
  }
});

test('rejects a change to any signed part', () => {
  const secret = generateWebhookSecret();
  const call = signed(secret);
  const none = undefined;
  for (const other of [
    { ...call, id: 'msg_2' },
    { ...call, id: none },
    { ...call, timestamp: none },
    { ...call, timestamp: `${call.timestamp}.0` },
    { ...call, timestamp: String(Number(call.timestamp) + 1) },
    { ...call, timestamp: `${call.timestamp}000` },
    { ...call, signature: none },
    { ...call, signature: '' },
    { ...call, signature: call.signature.replace('v1', 'v2') },
    { ...call, signature: call.signature.slice(0, -4) },
    { ...call, payload: payload.replace('colis', 'Colis') },
  ]) {
    assert.equal(isSigned(secret, other, nowMs), false, JSON.stringify(other));
  }
  assert.equal(isSigned(generateWebhookSecret(), call, nowMs), false);
});

test('a signed timestamp that is no time in seconds is out of range', () => {
  const secret = generateWebhookSecret();
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  for (const timestamp of [String(nowMs), '-5', `${nowMs / 1000}.5`, 'now']) {
    const mac = createHmac('sha256', key).update(`msg_1.${timestamp}.${payload}`).digest('base64');
    const headers = { id: 'msg_1', timestamp, signature: `v1,${mac}` };
    const check = checkSignature(secret, headers);
    check.update(Buffer.from(payload));
    assert.equal(check.result(nowMs), 'outOfRange', timestamp);
  }
});

test('one valid signature among several is enough, but not among too many', () => {
  const [old, fresh] = [generateWebhookSecret(), generateWebhookSecret()];
  const call = signed(fresh);
  const both = `${signed(old).signature} ${call.signature}`;
  assert.equal(isSigned(fresh, { ...call, signature: both }, nowMs), true);
  const late = `${'v1,x '.repeat(50)}${call.signature}`;
  assert.equal(isSigned(fresh, { ...call, signature: late }, nowMs), false);
});
