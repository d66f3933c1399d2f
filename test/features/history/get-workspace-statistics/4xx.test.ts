import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const user = service.ownerId;
const call = (options: object, query = '') =>
  service.call('GET', `/api/v1/statistics${query}`, options);

async function assertRefused(query: string, message: RegExp): Promise<void> {
  const { status, body } = await call({ user }, query);
  assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
  assert.match(body.message, message);
}

const wrong: [query: string, message: RegExp][] = [
  [
    '?groupBy=workspace',
    /"groupBy" must be "none" or a comma-separated list of agent, status, source, version, model, key/,
  ],
  ['?timeZone=Nowhere', /"timeZone" must be an IANA time zone, such as Europe\/Berlin/],
  ['?level=minute&groupBy=agent,key', /With level "minute"/],
];
for (const [query, message] of wrong) {
  test(`400 for ${query}`, () => assertRefused(query, message));
}

test('400 for too many agents', () =>
  assertRefused(`?agentIds=${'x,'.repeat(100)}x`, /"agentIds" must name at most 100 agents/));

test('400 for too many buckets', async () => {
  const agents = await Promise.all(Array.from({ length: 18 }, () => addAgent(service)));
  await sql`
    insert into statistics (agent_id, level, bucket, status, source, occurred, recorded, input_tokens,
      output_tokens, cost_usd, latency)
    select id, 'hour', b, 'success', 'api', 1, 1, 0, 0, 0, '{}'
    from unnest(${agents.map(({ id }) => id)}::uuid[]) as id,
      generate_series(timestamptz '2026-03-01Z', '2026-04-30T23:00Z', interval '1 hour') as b`.execute(
    service.db,
  );
  const range = 'startDate=2026-03-01&endDate=2026-04-30';
  await assertRefused(`?level=hour&groupBy=agent&${range}`, /has more than 25000 buckets\. Narrow/);
  const { body } = await call({ user }, `?level=hour&groupBy=none&${range}`);
  assert.equal(body.buckets.length, 61 * 24);
  assert.equal(body.buckets[0].count, 18);
});

test('429 above the limit of list calls', async () => {
  const second = await startService({ sharedWith: service, config: { listPerMinute: 0 } });
  try {
    const { key } = await service.key();
    const { status, body, headers } = await second.call('GET', '/api/v1/statistics', { key });
    assert.deepEqual([status, body.code], [429, 'RATE_LIMIT_EXCEEDED']);
    assert.ok(body.retryAfter >= 1 && body.retryAfter <= 60);
    assert.equal(headers.get('retry-after'), String(body.retryAfter));
    assert.equal(headers.get('x-ratelimit-remaining'), '0');
  } finally {
    await second.close();
  }
});
