import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

/** The event limit of a webhook across all processes. */

const limit = 5;
const service = await startService({ config: { webhookPerMinute: limit } });
const second = await startService({ sharedWith: service, config: { webhookPerMinute: limit } });
after(async () => {
  await second.close();
  await service.close();
});
const { key } = await service.key();
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));
const event = JSON.stringify({ name: 'event' });
let count = 0;

interface Hook {
  readonly path: string;
  readonly secret: string;
}

async function createWebhook(): Promise<Hook> {
  const { body } = await service.call('POST', `${workflow.path}/webhooks`, {
    key,
    body: { name: 'Shop' },
  });
  // The minute never goes back, so this future one lasts for the whole test.
  await sql`
    insert into list_counts (caller, minute, used)
    values (${fromId('webhook', body.webhookId)}, 100000000, 0)`.execute(service.db);
  return body;
}

function send({ path, secret }: Hook, by = service, id = `msg_${++count}`) {
  const at = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, event),
  };
  return by.call('POST', path, { body: event, headers });
}

async function runs() {
  return (await service.call('GET', `${workflow.path}/runs`, { key })).body.pagination.total;
}

/** Everything that rejected events could have written. */
async function written() {
  const { rows } = await sql<{ text: string }>`
    select (select coalesce(string_agg(c::text, ' ' order by caller), '') from list_counts c)
      || (select coalesce(string_agg(a::text, ' ' order by key), '') from sign_in_attempts a) as text`.execute(
    service.db,
  );
  return rows[0]?.text;
}

test('each webhook accepts its limit of signed events per minute, across all processes', async () => {
  const [hook, other] = [await createWebhook(), await createWebhook()];
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, place) => send(hook, place % 2 === 0 ? service : second)),
  );
  const taken = responses.filter(({ status }) => status === 202);
  const refused = responses.filter(({ status }) => status === 429);
  assert.deepEqual([taken.length, refused.length], [limit, 12 - limit]);
  for (const { body, headers } of refused) {
    assert.equal(body.code, 'RATE_LIMIT_EXCEEDED');
    assert.equal(headers.get('retry-after'), String(body.retryAfter));
    assert.ok(body.retryAfter >= 1);
  }
  assert.equal(await runs(), limit);
  assert.equal((await send(other)).status, 202);
});

test('each response shows the remaining events of the minute', async () => {
  const hook = await createWebhook();
  for (let left = limit - 1; left >= -1; left--) {
    const { status, headers } = await send(hook);
    const remaining = Math.max(0, left);
    assert.equal(status, left < 0 ? 429 : 202);
    assert.equal(headers.get('ratelimit-policy'), `"webhook-minute";q=${limit};w=60`);
    assert.match(headers.get('ratelimit') ?? '', new RegExp(`^"webhook-minute";r=${remaining};t=`));
    assert.equal(headers.get('x-ratelimit-limit'), String(limit));
    assert.equal(headers.get('x-ratelimit-remaining'), String(remaining));
    assert.equal(headers.get('x-ratelimit-reset'), String(100_000_001 * 60));
  }
});

test('a repeated event counts again', async () => {
  const hook = await createWebhook();
  for (let n = 0; n < limit; n++) assert.equal((await send(hook, service, 'same')).status, 202);
  assert.equal((await send(hook, service, 'same')).status, 429);
});

test('events with an invalid signature do not count and write nothing', async () => {
  const hook = await createWebhook();
  const before = await written();
  const forged = { ...hook, secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
  // No more at once than a slow machine serves before waiting clients time out.
  for (let batch = 0; batch < 6; batch++) {
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(forged)));
    assert.deepEqual([...new Set(responses.map(({ status }) => status))], [401]);
  }
  assert.equal(await written(), before);
  for (let n = 0; n < limit; n++) assert.equal((await send(hook)).status, 202);
});
