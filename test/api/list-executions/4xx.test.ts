import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);
const paths = [`${agent.path}/executions`, `/api/agents/${agent.agentId}/executions`];

const wrong: [string, RegExp][] = [
  ['limit=0', /limit.*1 to 100/],
  ['limit=101', /limit.*1 to 100/],
  ['limit=ten', /limit.*1 to 100/],
  ['limit=1e1', /limit.*1 to 100/],
  ['limit=1&limit=2', /limit/],
  ['status=success&status=failed', /"status" may be given only once/],
  ['source=api&source=api', /"source" may be given only once/],
  ['limit=', /limit/],
  ['offset=-1', /offset/],
  ['offset=1.5', /offset/],
  ['status=done', /status.*success, failed, rate_limited, canceled, unauthorized/],
  ['status=processing', /status.*success/],
  ['source=web', /source.*dashboard, api, workflow/],
  ['startDate=yesterday', /startDate.*ISO 8601/],
  ['startDate=2026-02-30', /startDate.*ISO 8601/],
  ['endDate=2026-11-21T25:00:00Z', /endDate.*ISO 8601/],
  ['startDate=2026-11-22&endDate=2026-11-21', /startDate.*after/],
  ['include=everything', /include/],
  ['cursor=nothing', /cursor/],
  ['page=2', /Unknown parameter "page".*variables\.NAME, metadata\.NAME/],
  ['errorCode=OOPS', /errorCode.*MODEL_TIMEOUT/],
  ['latencyMsMin=-1', /latencyMsMin/],
  ['costUSDMax=cheap', /costUSDMax/],
  ['latencyMsMin=10&latencyMsMax=9', /latencyMsMin.*latencyMsMax/],
  ['costUSDMin=10&costUSDMax=9', /costUSDMin.*costUSDMax/],
  ['costUSDMin=123456789.0000000002&costUSDMax=123456789.0000000001', /costUSDMin.*costUSDMax/],
  ['q=', /q/],
  ['q=%00', /q.*NUL/],
  ['variables.a=%00', /variables\.a.*NUL/],
  ['variables.=x', /Unknown parameter "variables\."/],
  ['variables.a=x&variables.a=y', /variables\.a/],
  [Array.from({ length: 11 }, (_, i) => `variables.v${i}=x`).join('&'), /variables\..*10/],
  ['__proto__=1', /__proto__/],
];
for (const [query, message] of wrong) {
  test(`400 for ${query}, naming the allowed values`, async () => {
    for (const path of paths) {
      const { status, body } = await service.call('GET', `${path}?${query}`, { key });
      assert.equal(status, 400);
      assert.match(body.message, message);
    }
  });
}

test('a range of one value is valid', async () => {
  const range = 'latencyMsMin=9&latencyMsMax=9&costUSDMin=0.50&costUSDMax=0.5';
  const { status, body } = await service.call('GET', `${paths[0]}?${range}`, { key });
  assert.deepEqual([status, body.pagination.total], [200, 0]);
});

test('401 without a key or session, 403 without the permission', async () => {
  const { key: executor } = await service.key({ permissions: ['execute'] });
  for (const path of paths) {
    assert.equal((await service.call('GET', path)).status, 401);
    assert.equal((await service.call('GET', path, { key: executor })).status, 403);
  }
});

test('404 for an agent that is unknown or not accessible', async () => {
  const hidden = await addAgent(service, { visibility: 'private' });
  const { key: other } = await service.key({ userId: await service.member('editor') });
  assert.equal(
    (await service.call('GET', `/api/agents/${hidden.agentId}/executions`, { key: other })).status,
    404,
  );
  assert.equal((await service.call('GET', '/api/agents/nothing/executions', { key })).status, 404);
});

test('429 above the limit of list calls of this caller; execute has its own limit', async () => {
  const second = await startService({ sharedWith: service, config: { listPerMinute: 0 } });
  try {
    const { key: other } = await service.key();
    const { status, body, headers } = await second.call('GET', paths[1] ?? '', { key: other });
    assert.equal(status, 429);
    assert.equal(body.code, 'RATE_LIMIT_EXCEEDED');
    assert.ok(body.retryAfter >= 1 && body.retryAfter <= 60);
    assert.equal(headers.get('retry-after'), String(body.retryAfter));
    assert.equal(headers.get('x-ratelimit-remaining'), '0');
    assert.equal(headers.get('ratelimit-policy'), '"list-minute";q=0;w=60');
    assert.match(headers.get('ratelimit') ?? '', /^"list-minute";r=0;t=\d+$/);
    const execute = await second.call('POST', `${agent.path}/execute`, {
      key: other,
      body: { variables: { name: 'x' } },
    });
    assert.equal(execute.headers.get('x-ratelimit-remaining'), '99');
  } finally {
    await second.close();
  }
});
