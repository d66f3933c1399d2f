import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const path = `/api/agents/${agent.agentId}/executions`;

test('429 above the limit of list calls of this caller; execute has its own limit', async () => {
  const second = await startService({ sharedWith: service, config: { listPerMinute: 0 } });
  try {
    const { key: other } = await service.key();
    const { status, body, headers } = await second.call('GET', path, { key: other });
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
