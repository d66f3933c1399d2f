import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { readMetric } from '../../../harness/unread-client.ts';

/** Room for four inputs of this length and for two of its prompts. */
const input = 'x'.repeat(500_000);
const service = await startService({ config: { executionBytes: 16_000_000 } });
after(service.close);
const { key } = await service.key();
const held = () => readMetric(service.url, 'cueline_execution_bytes_held');

test('executions with long prompts wait for room, and all of them end', async () => {
  const agent = await addAgent(service, { user: '{{name}}{{name}}' });
  const call = { key, body: { variables: { name: input } } };
  const accepted = await Promise.all(
    Array.from({ length: 12 }, () => service.call('POST', `${agent.path}/execute`, call)),
  );
  assert.ok(accepted.every(({ status }) => status === 202));
  const statuses = accepted.map(({ body }) => body.statusUrl as string);
  const records = await Promise.all(statuses.map((path) => ended(service, path, key)));
  for (const { status, outputText } of records) {
    assert.deepEqual([status, outputText.length], ['success', 2 * input.length]);
  }
  while ((await held()) > 0);
});
