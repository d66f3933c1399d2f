import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';

/** Events that are signed as GitHub, Stripe and Slack do, and the log of a webhook. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));
const path = `${workflow.path}/webhooks`;
const secret = 'text of the sender';
// Other bytes than those that its JSON would be written with.
const event = '{ "name":"caf\\u00e9 ☕" }';

interface Hook {
  readonly webhookId: string;
  readonly path: string;
  readonly secret: string;
  readonly signature: string;
}

async function create(input: object): Promise<Hook> {
  const { status, body } = await service.call('POST', path, { key, body: { name: 'S', ...input } });
  assert.equal(status, 201);
  return body;
}

const mac = (text: string, by = secret) => createHmac('sha256', by).update(text).digest('hex');
const seconds = () => String(Math.floor(Date.now() / 1000));

const sign: Record<string, (body: string, at?: string) => Record<string, string>> = {
  github: (body) => ({ 'x-hub-signature-256': `sha256=${mac(body)}` }),
  stripe: (body, at = seconds()) => ({ 'stripe-signature': `t=${at},v1=${mac(`${at}.${body}`)}` }),
  slack: (body, at = seconds()) => ({
    'x-slack-request-timestamp': at,
    'x-slack-signature': `v0=${mac(`v0:${at}:${body}`)}`,
  }),
};

function send(hook: Hook, body: string, headers: Record<string, string> = {}) {
  return service.call('POST', hook.path, { body, headers });
}

async function log(hook: Hook) {
  const { status, body } = await service.call('GET', `${path}/${hook.webhookId}/log`, { key });
  assert.equal(status, 200);
  return body.events as { outcome: string; status: number; [field: string]: unknown }[];
}

async function runs(): Promise<number> {
  return (await service.call('GET', `${workflow.path}/runs`, { key })).body.pagination.total;
}

for (const signature of ['github', 'stripe', 'slack']) {
  test(`${signature}: a signed event starts a run with its body, and the log has no body`, async () => {
    const hook = await create({ signature, secret });
    assert.deepEqual([hook.signature, hook.secret], [signature, secret]);
    const signed = sign[signature]?.(event) ?? {};
    const accepted = await send(hook, event, signed);
    assert.equal(accepted.status, 202);
    const { statusUrl, workflowRunId } = accepted.body;
    const { body } = await service.call('GET', `${statusUrl}?wait=30`, { key });
    assert.deepEqual([body.trigger, body.output], ['webhook', 'Hello café ☕']);
    const before = await runs();
    const others = Object.entries(sign).filter(([name]) => name !== signature);
    for (const headers of [
      {},
      sign[signature]?.(`${event} `) ?? {},
      ...others.map(([, by]) => by(event)),
    ]) {
      assert.equal((await send(hook, event, headers)).status, 401);
    }
    assert.equal(await runs(), before);
    const malformed = '{"caller text": 1';
    const refused = await send(hook, malformed, sign[signature]?.(malformed));
    assert.equal(refused.status, 400);
    const events = await log(hook);
    const shown = events.map(({ receivedAt, message, ...rest }) => rest);
    const rejected = { outcome: 'rejected', eventId: null, workflowRunId: null };
    const unsigned = { ...rejected, status: 401, code: 'UNAUTHORIZED' };
    assert.deepEqual(shown, [
      { ...rejected, status: 400, code: 'MALFORMED_BODY' },
      ...Array.from({ length: 4 }, () => unsigned),
      { outcome: 'received', status: 202, eventId: null, workflowRunId, code: null },
    ]);
    assert.doesNotMatch(JSON.stringify(events), /caller text|caf/);
  });
}

for (const signature of ['stripe', 'slack']) {
  test(`${signature}: an event from ten minutes ago is refused`, async () => {
    const hook = await create({ signature, secret });
    const old = String(Math.floor(Date.now() / 1000) - 600);
    const { status, body } = await send(hook, event, sign[signature]?.(event, old));
    assert.equal(status, 401);
    assert.match(body.message, /more than five minutes/);
    assert.equal((await log(hook))[0]?.message, body.message);
  });
}

test('github: a repeat of a delivery starts nothing', async () => {
  const hook = await create({ signature: 'github', secret });
  const headers = { ...sign.github?.(event), 'x-github-delivery': 'delivery-1' };
  const first = await send(hook, event, headers);
  const again = await send(hook, event, headers);
  assert.deepEqual([first.status, again.status], [202, 202]);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.equal(again.body.workflowRunId, first.body.workflowRunId);
  const other = await send(hook, event, { ...headers, 'x-github-delivery': 'delivery-2' });
  assert.notEqual(other.body.workflowRunId, first.body.workflowRunId);
  const ids = (await log(hook)).map(({ eventId }) => eventId);
  assert.deepEqual(ids, ['delivery-2', 'delivery-1', 'delivery-1']);
});

test('slack: a signed challenge is answered and starts nothing', async () => {
  const hook = await create({ signature: 'slack', secret });
  const before = await runs();
  const challenge = JSON.stringify({ token: 't', challenge: '3eZbrw', type: 'url_verification' });
  const { status, body } = await send(hook, challenge, sign.slack?.(challenge));
  assert.deepEqual([status, body], [200, { challenge: '3eZbrw' }]);
  assert.equal((await send(hook, challenge)).status, 401);
  const github = await create({ signature: 'github', secret });
  assert.notEqual((await send(github, challenge, sign.github?.(challenge))).status, 200);
  assert.equal(await runs(), before);
});

test('a webhook keeps its signature and gets another secret', async () => {
  const hook = await create({ signature: 'github', secret });
  const rotate = (body?: object) =>
    service.call('POST', `${path}/${hook.webhookId}/rotate`, { key, ...(body && { body }) });
  const chosen = await rotate({ secret: 'another text' });
  assert.deepEqual(
    [chosen.status, chosen.body.signature, chosen.body.secret],
    [200, 'github', 'another text'],
  );
  assert.equal((await send(hook, event, sign.github?.(event))).status, 401);
  const signed = { 'x-hub-signature-256': `sha256=${mac(event, 'another text')}` };
  assert.equal((await send(hook, event, signed)).status, 202);
  const { body: generated } = await rotate();
  const own = { 'x-hub-signature-256': `sha256=${mac(event, generated.secret)}` };
  assert.equal((await send(hook, event, own)).status, 202);
  for (const body of [{ secret: 'short' }, { secret: 'x'.repeat(256) }, { signature: 'slack' }]) {
    assert.equal((await rotate(body)).status, 400);
  }
  assert.equal(
    (await service.call('POST', path, { key, body: { name: 'S', signature: 'gitlab' } })).status,
    400,
  );
});

test('a chosen secret of the standard is its base64, or any text', async () => {
  for (const [chosen, by] of [
    [`whsec_${Buffer.from('bytes of a key').toString('base64')}`, 'bytes of a key'],
    [secret, secret],
  ] as const) {
    const hook = await create({ secret: chosen });
    const at = seconds();
    const signature = createHmac('sha256', by).update(`msg_1.${at}.${event}`).digest('base64');
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': at };
    const signed = { ...headers, 'webhook-signature': `v1,${signature}` };
    assert.equal((await send(hook, event, signed)).status, 202);
  }
});

test('the log keeps the last 100 events, and those of third parties displace none of the sender', async () => {
  const hook = await create({ signature: 'github', secret });
  const malformed = '[]';
  for (let at = 0; at < 105; at++) {
    const delivery = { 'x-github-delivery': `d${at}` };
    await send(hook, malformed, { ...sign.github?.(malformed), ...delivery });
  }
  const signed = await log(hook);
  assert.equal(signed.length, 100);
  assert.deepEqual([signed[0]?.eventId, signed.at(-1)?.eventId], ['d104', 'd5']);
  await Promise.all(Array.from({ length: 60 }, () => send(hook, event)));
  const both = await log(hook);
  assert.equal(both.length, 100);
  const unsigned = both.filter(({ status }) => status === 401).length;
  // A minute may have begun meanwhile.
  assert.ok(unsigned === 10 || unsigned === 20, String(unsigned));
});
