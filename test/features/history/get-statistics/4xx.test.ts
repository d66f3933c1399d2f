import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { getStatistics } from '../../../../src/features/history/contract/statistics-contract.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const user = service.ownerId;
const call = (options: object, query: string) =>
  service.call(getStatistics.method, `${agent.path}/statistics${query}`, options);

const wrong: [query: string, message: RegExp][] = [
  ['?startDate=yesterday', /"startDate" must be an ISO 8601/],
  ['?endDate=2026-02-30', /"endDate" must be an ISO 8601/],
  ['?startDate=2026-03-05&endDate=2026-03-04', /"startDate" must not be after "endDate"/],
  [
    '?level=hour&startDate=2026-03-04T00:00Z&endDate=2026-05-05T12:00Z',
    /more than 1500 intervals of level "hour"/,
  ],
  ['?startDate=0000-01-01', /more than 1500 intervals/],
  ['?timeZone=Mars/Olympus', /"timeZone" must be an IANA time zone, .* "Mars\/Olympus" is unknown/],
  ['?timeZone=', /"timeZone"/],
  ['?timeZone=%2B05:45', /"timeZone"/],
  ['?timeZone=CEST', /"timeZone"/],
  ['?timeZone=Europe/Berlin&startDate=2026-02-30', /"startDate" must be an ISO 8601/],
  [
    '?groupBy=colour',
    /"groupBy" must be "none" or a comma-separated list of status, source, version, model, key, errorCode/,
  ],
  ['?groupBy=agent', /"groupBy"/],
  ['?groupBy=status,status', /each at most once/],
  ['?groupBy=status,none', /"groupBy"/],
  ['?groupBy=status%20source', /"groupBy"/],
  [
    '?level=minute&groupBy=status,model',
    /With level "minute", parameter "groupBy" supports only status and source/,
  ],
  ['?level=minute&startDate=2026-03-04&endDate=2026-03-04', /"minute" covers the last 2 days/],
];
for (const [query, message] of wrong) {
  test(`400 for ${query}`, async () => {
    const { status, body } = await call({ user }, query);
    assert.deepEqual([status, body.code], [400, 'INVALID_REQUEST']);
    assert.match(body.message, message);
  });
}

test('404 for an agent that the caller cannot see, even with invalid dates', async () => {
  const { ownerId: stranger } = await service.workspace();
  const { status, body } = await call({ user: stranger }, '?startDate=yesterday');
  assert.deepEqual([status, body.code], [404, 'NOT_FOUND']);
});

test('429 above the limit of list calls', async () => {
  const second = await startService({ sharedWith: service, config: { listPerMinute: 0 } });
  try {
    const { key } = await service.key();
    const { status, body, headers } = await second.call('GET', `${agent.path}/statistics`, { key });
    assert.deepEqual([status, body.code], [429, 'RATE_LIMIT_EXCEEDED']);
    assert.ok(body.retryAfter >= 1 && body.retryAfter <= 60);
    assert.equal(headers.get('retry-after'), String(body.retryAfter));
    assert.equal(headers.get('x-ratelimit-remaining'), '0');
  } finally {
    await second.close();
  }
});
