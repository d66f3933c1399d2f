import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { inlineCharsMax } from '../../../../src/core/compute.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));
const path = `${workflow.path}/webhooks`;

const hook = await createWebhook();
let count = 0;

async function createWebhook() {
  const { body } = await service.call('POST', path, { key, body: { name: 'Shop' } });
  return body as { webhookId: string; path: string; secret: string };
}

function signed(secret: string, body: string, id = `msg_${++count}`, at = new Date()) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

function send(body: string, headers: Record<string, string>, to = hook.path) {
  return service.call('POST', to, { body, headers });
}

/** A body as it is, of any type. */
async function raw(
  to: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
) {
  const response = await fetch(service.url + to, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  const { status } = response;
  return {
    status,
    body: (await response.json()) as { statusUrl: string; message: string } & Record<
      string,
      unknown
    >,
  };
}

const event = JSON.stringify({ name: 'event', more: [1.5] });

async function runs() {
  return (await service.call('GET', `${workflow.path}/runs`, { key })).body.pagination.total;
}

test('a signed event starts one workflow run with its body as input', async () => {
  const headers = signed(hook.secret, event);
  const accepted = await send(event, headers);
  assert.equal(accepted.status, 202);
  assert.deepEqual(accepted.body.ignoredInput, ['more']);
  const { body } = await service.call('GET', `${accepted.body.statusUrl}?wait=30`, { key });
  assert.deepEqual(
    [body.status, body.trigger, body.output, body.input],
    ['success', 'webhook', 'Hello event', { name: 'event', more: [1.5] }],
  );
  const before = await runs();
  const again = await send(event, signed(hook.secret, event, headers['webhook-id']));
  assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [202, 'true']);
  assert.deepEqual(again.body, { ...accepted.body, currentStatus: 'success' });
  assert.equal(await runs(), before);
});

test('a long event is its input as it was sent, and nothing beside it', async () => {
  const long = 'x'.repeat(inlineCharsMax);
  const whole = `{"name":1.0,"long":"${long}"}`;
  const { body: started } = await send(whole, signed(hook.secret, whole));
  const { body } = await service.call('GET', `${started.statusUrl}?wait=30`, { key });
  assert.deepEqual([body.output, body.input.long], ['Hello 1.0', long]);
  for (const payload of [`["${long}"]`, `{"name":"${long}"},"user":"x"`]) {
    assert.equal((await send(payload, signed(hook.secret, payload))).status, 400);
  }
});

test('every invalid event returns the same 401 and starts nothing', async () => {
  const before = await runs();
  const good = signed(hook.secret, event);
  const other = await createWebhook();
  const hour = new Date(Date.now() - 3_600_000);
  const elsewhere = hook.path.replace(hook.webhookId, 'whk_00000000000000000000000000');
  const responses = await Promise.all([
    send(event, {}),
    send(event, { ...good, 'webhook-signature': 'v1,AAAA' }),
    send(`${event} `, good),
    send(event, good, elsewhere),
    send(event, good, '/api/v1/webhooks/nothing'),
    service.call('POST', hook.path, { headers: good }),
    ...[hook.path, elsewhere].flatMap((to) => [
      // Of every content type, encoding and size; longer than what is verified, or not UTF-8.
      raw(to, event, { ...good, 'webhook-signature': 'v1,AAAA', 'content-type': 'text/plain' }),
      raw(to, event, { 'content-encoding': 'gzip' }),
      raw(to, 'x'.repeat(2_000_000), good),
      raw(to, Buffer.from([0xff]), good),
      raw(to, event, { ...signed(other.secret, event, 'old', hour), 'content-type': 'text/plain' }),
    ]),
    raw(hook.path, 'x'.repeat(9_000_000), good),
  ]);
  for (const { status, body } of responses) {
    const { message, code } = body;
    const words = 'The signature of the event is not valid.';
    assert.deepEqual([status, code, message], [401, 'UNAUTHORIZED', words]);
  }
  assert.equal(await runs(), before);
});

test('the signature covers the bytes of the body: a byte order mark is part of it', async () => {
  const bytes = Buffer.from(`\uFEFF${event}`);
  const accepted = await raw(hook.path, bytes, signed(hook.secret, `\uFEFF${event}`));
  assert.equal(accepted.status, 202);
  const { body } = await service.call('GET', `${accepted.body.statusUrl}?wait=30`, { key });
  assert.equal(body.input.name, 'event');
  assert.equal((await raw(hook.path, bytes, signed(hook.secret, event))).status, 401);
});

test('names of Svix and signatures without padding are accepted', async () => {
  const {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  } = signed(hook.secret, event);
  const svix = { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': signature };
  assert.equal((await send(event, svix)).status, 202);
  assert.equal((await send(event, svix)).headers.get('idempotent-replayed'), 'true');
  const unpadded = signature.replace(/=+$/, '');
  assert.notEqual(unpadded, signature);
  assert.equal((await send(event, { ...svix, 'svix-signature': unpadded })).status, 202);
});

test('a signed event learns why it is refused', async () => {
  for (const ms of [-3_600_000, 3_600_000]) {
    const at = new Date(Date.now() + ms);
    const late = await send(event, signed(hook.secret, event, 'late', at));
    assert.equal(late.status, 401);
    assert.match(late.body.message, /^The timestamp of the event differs from the server's clock/);
  }
  const type = { 'content-type': 'text/plain' };
  const plain = await raw(hook.path, event, { ...signed(hook.secret, event), ...type });
  assert.equal(plain.status, 415);
  const long = JSON.stringify({ name: 'x'.repeat(2_000_000) });
  assert.equal((await raw(hook.path, long, signed(hook.secret, long))).status, 413);
});

test('400 for a signed event with an invalid input, 403 for a disabled workflow', async () => {
  const cases: [string, RegExp][] = [
    ...['[1]', '"x"', 'null'].map((body): [string, RegExp] => [
      body,
      /^The body must be a JSON object/,
    ]),
    ['{"other":1}', /name/],
    ['{},"input":{"name":"x"}', /^The body is not valid JSON/],
  ];
  for (const [body, message] of cases) {
    const refused = await send(body, signed(hook.secret, body));
    assert.equal(refused.status, 400, body);
    assert.match(refused.body.message, message, body);
  }
  await service.call('PATCH', workflow.path, { key, body: { enabled: false } });
  assert.equal((await send(event, signed(hook.secret, event))).status, 403);
  await service.call('PATCH', workflow.path, { key, body: { enabled: true } });
});

test('after a rotation only the new secret is valid; a deleted webhook is unknown', async () => {
  const other = await createWebhook();
  const rotated = await service.call('POST', `${path}/${other.webhookId}/rotate`, { key });
  assert.equal(rotated.status, 200);
  assert.notEqual(rotated.body.secret, other.secret);
  assert.equal((await send(event, signed(other.secret, event), other.path)).status, 401);
  assert.equal((await send(event, signed(rotated.body.secret, event), other.path)).status, 202);
  const { webhooks } = (await service.call('GET', path, { key })).body;
  assert.ok(webhooks.every((one: object) => !('secret' in one)));
  assert.equal((await service.call('DELETE', `${path}/${other.webhookId}`, { key })).status, 204);
  assert.equal((await send(event, signed(rotated.body.secret, event), other.path)).status, 401);
});

test('the secret is stored encrypted', async () => {
  const { rows } = await sql<{ text: string }>`
    select encode(sealed_secret, 'escape') as text from workflow_webhooks`.execute(service.db);
  assert.ok(rows.length > 0);
  assert.ok(rows.every(({ text }) => !text.includes(hook.secret.slice(6))));
});
