import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../harness/created-workflows.ts';
import { startService } from '../../../harness/service.ts';

/** Comparing two bodies is slow. A caller whose calls are refused earlier must not cause it. */

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const workflow = await makeWorkflow(service, greeting(agent.agentId));
const rateLimits = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: 2 };

for (const [field, { path }] of Object.entries({ variables: agent, input: workflow })) {
  test(`the ${field} are compared for a replay, not for calls that are refused earlier`, async () => {
    const { key, apiKeyId } = await service.key({ rateLimits });
    const call = (value: string) =>
      service.call('POST', `${path}/execute`, {
        key,
        body: `{"${field}":{"name":${value}}}`,
        headers: { 'idempotency-key': 'same' },
      });
    /** In this form a value is decoded only for the comparison, because refused calls render no prompt. */
    const escaped = '"\\u0041"';
    const comparisonsIn = async (status: number) => {
      const parse = mock.method(JSON, 'parse');
      const response = await call(escaped);
      const comparisons = parse.mock.calls.filter((one) => one.arguments[0] === escaped).length;
      parse.mock.restore();
      assert.equal(response.status, status);
      return comparisons;
    };
    assert.equal((await call('"A"')).status, 202);
    assert.equal(await comparisonsIn(202), 1);
    // The call before was accepted, so this one is hashed in advance; the next ones are not.
    assert.equal(await comparisonsIn(429), 1);
    assert.equal(await comparisonsIn(429), 0);
    await service.call('POST', `/api/v1/keys/${apiKeyId}/revoke`, { user: service.ownerId });
    assert.equal(await comparisonsIn(401), 0);
  });
}
