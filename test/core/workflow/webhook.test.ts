import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  generateWebhookSecret,
  isWebhookSecret,
  secretOfText,
} from '../../../src/core/standard-webhooks.ts';
import {
  checkSignature,
  readSignedHeaders,
  toleranceMs,
  type WebhookSignature,
} from '../../../src/features/workflows/rules/webhook.ts';

const nowMs = Date.parse('2026-11-21T09:30:00Z');
const payload = '{"ticket":"Où est mon colis?"}';

interface StandardHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
}

const standard = ({ id, timestamp, signature }: StandardHeaders) =>
  readSignedHeaders('standard', {
    ...(id !== undefined && { 'webhook-id': id }),
    ...(timestamp !== undefined && { 'webhook-timestamp': timestamp }),
    ...(signature !== undefined && { 'webhook-signature': signature }),
  });

function isSigned(
  secret: string,
  { payload: body, ...headers }: StandardHeaders & { readonly payload: string },
  atMs: number,
): boolean {
  const check = checkSignature(secret, standard(headers));
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
    const check = checkSignature(secret, standard(headers));
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

function resultOf(
  kind: WebhookSignature,
  secret: string,
  headers: Record<string, string>,
  body: string,
  atMs = nowMs,
) {
  const check = checkSignature(secretOfText(secret), readSignedHeaders(kind, headers));
  check.update(Buffer.from(body));
  return check.result(atMs);
}

test('accepts the examples in the documentation of GitHub and Slack', () => {
  const digest = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const github = (signature: string) =>
    resultOf(
      'github',
      "It's a Secret to Everybody",
      { 'x-hub-signature-256': signature },
      'Hello, World!',
    );
  assert.equal(github(`sha256=${digest}`), 'valid');
  for (const signature of [digest, `sha1=${digest}`, `sha256=${digest.slice(1)}`, 'sha256=', '']) {
    assert.equal(github(signature), 'invalid', signature);
  }
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
  const signature = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503';
  const headers = { 'x-slack-request-timestamp': '1531420618', 'x-slack-signature': signature };
  const secret = '8f742231b10e8888abcd99yyyzzz85a5';
  const slack = (more: object, atMs: number) =>
    resultOf('slack', secret, { ...headers, ...more }, body, atMs);
  assert.equal(slack({}, 1_531_420_618_000 + toleranceMs), 'valid');
  assert.equal(slack({}, 1_531_420_618_000 + toleranceMs + 1_000), 'outOfRange');
  assert.equal(slack({ 'x-slack-request-timestamp': '1531420619' }, 1_531_420_618_000), 'invalid');
  assert.equal(resultOf('slack', secret, { 'x-slack-signature': signature }, body), 'invalid');
});

test('accepts one of the signatures of Stripe within five minutes', () => {
  const secret = 'whsec_used as text';
  const at = String(nowMs / 1000);
  const sign = (text: string) => createHmac('sha256', secret).update(text).digest('hex');
  const digest = sign(`${at}.${payload}`);
  const stripe = (signature: string, atMs = nowMs) =>
    resultOf('stripe', secret, { 'stripe-signature': signature }, payload, atMs);
  const wrong = `v1=${'0'.repeat(64)}`;
  assert.equal(stripe(`t=${at},v1=${digest}`), 'valid');
  assert.equal(stripe(`t=${at}, ${wrong}, v1=${digest}, v0=${digest}`), 'valid');
  assert.equal(stripe(`t=${at},v1=${digest}`, nowMs + toleranceMs + 1_000), 'outOfRange');
  for (const signature of [
    `t=${at},v0=${digest}`,
    `t=${Number(at) + 1},v1=${digest}`,
    `v1=${digest}`,
    `v1=${sign(`.${payload}`)}`,
    `t=,v1=${sign(`.${payload}`)}`,
    `t=${at},${`${wrong},`.repeat(10)}v1=${digest}`,
    '',
  ]) {
    assert.equal(stripe(signature), 'invalid', signature);
  }
});

test('only a secret with a key counts as one of the standard', () => {
  for (const text of ['whsec_', 'whsec_a', 'whsec_a b', 'secret', 'whsec_===']) {
    assert.equal(isWebhookSecret(text), false, text);
  }
  assert.equal(isWebhookSecret(generateWebhookSecret()), true);
});
