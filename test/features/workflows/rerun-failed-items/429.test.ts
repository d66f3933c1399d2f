import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { failingItems } from './items.ts';

const items = await failingItems({ listPerMinute: 1 });
const { service } = items;
after(service.close);

test('429 above the limit of list calls, before anything is read', async () => {
  const { statusUrl } = await items.run(['a']);
  const responses = [];
  // Three requests span at most two minutes.
  for (let call = 0; call < 3; call++) responses.push(await items.rerun(statusUrl, 'each'));
  assert.ok(responses.some(({ status }) => status === 202));
  const refused = responses.find(({ status }) => status === 429);
  assert.match(refused?.body.message, /list calls/);
  assert.equal(refused?.headers.get('retry-after'), String(refused?.body.retryAfter));
});
