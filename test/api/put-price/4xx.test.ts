import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { putPrice } from '../../../src/contract/workspace/providers.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/prices';
const user = service.ownerId;
const good = { model: 'a/b', inputPerMillion: '1', outputPerMillion: '2' };

testRefusals(service, putPrice, { path, body: good });

async function refused(options: object, status: number, code: string): Promise<string> {
  const response = await service.call('PUT', path, { body: good, ...options });
  assert.deepEqual([response.status, response.body.code], [status, code]);
  const { body } = await service.call('GET', path, { user });
  assert.deepEqual(body.prices, []);
  return response.body.message;
}

const wrong: [what: string, field: string, body: object][] = [
  ['a model without a provider', 'model', { model: 'gpt' }],
  ['a model with a blank', 'model', { model: 'a/b c' }],
  ['a model that is built in', 'model', { model: 'cueline/echo' }],
  ['no input price', 'inputPerMillion', { inputPerMillion: undefined }],
  ['an input price of null', 'inputPerMillion', { inputPerMillion: null }],
  ['a price below 0', 'inputPerMillion', { inputPerMillion: -0.01 }],
  ['a text that is no decimal', 'outputPerMillion', { outputPerMillion: '1e3' }],
  ['a text with a sign', 'outputPerMillion', { outputPerMillion: '-1' }],
  ['a comma', 'outputPerMillion', { outputPerMillion: '1,5' }],
  ['13 places', 'outputPerMillion', { outputPerMillion: '0.0000000000001' }],
  ['a number of 13 places', 'outputPerMillion', { outputPerMillion: 1e-13 }],
  ['a sum of floats', 'inputPerMillion', { inputPerMillion: 0.1 + 0.2 }],
  ['more than a million', 'inputPerMillion', { inputPerMillion: 1_000_001 }],
  ['a text of more than a million', 'inputPerMillion', { inputPerMillion: '1000000.01' }],
  ['a wrong cache price', 'cacheReadPerMillion', { cacheReadPerMillion: 'free' }],
  ['a cache price that is too fine', 'cacheWritePerMillion', { cacheWritePerMillion: 1e-15 }],
];
for (const [what, field, body] of wrong) {
  test(`400 for ${what}, naming the field`, async () => {
    const message = await refused({ user, body: { ...good, ...body } }, 400, 'INVALID_REQUEST');
    assert.match(message, new RegExp(`"${field}"`));
  });
}

test('403 for an editor, and for an owner’s key that is restricted to agents', async () => {
  await refused({ user: await service.member('editor') }, 403, 'PERMISSION_DENIED');
  const { agentId } = await addAgent(service);
  const { key } = await service.key({ agentIds: [agentId] });
  await refused({ key }, 403, 'PERMISSION_DENIED');
});
