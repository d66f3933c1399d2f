import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { readMetric } from '../../../../harness/unread-client.ts';

/** Room for two prompts of these inputs. */
const input = 'x'.repeat(1_000_000);
const service = await startService({ config: { executionBytes: 33_554_432 } });
after(service.close);
const { key } = await service.key();
const held = () => readMetric(service.url, 'cueline_execution_bytes_held');

test('executions with long prompts wait for room, and all of them end', async () => {
  const count = 8;
  let running = 0;
  let most = 0;
  const call = async () => {
    running++;
    most = Math.max(most, running);
    // Long enough for all others to be called as well, if they may.
    await wait(200);
    running--;
    return {};
  };
  service.models.script(...Array.from({ length: count }, () => call));
  const agent = await addAgent(service, { user: '{{name}}{{name}}' });
  const request = { key, body: { variables: { name: input } } };
  const accepted = await Promise.all(
    Array.from({ length: count }, () => service.call('POST', `${agent.path}/execute`, request)),
  );
  const paths = accepted.map(({ body }) => body.statusUrl as string);
  const records = await Promise.all(paths.map((path) => ended(service, path, key)));
  for (const { status, outputText } of records) {
    assert.deepEqual([status, outputText.length], ['success', 2 * input.length]);
  }
  assert.ok(most <= 2, `${most} at once`);
  while ((await held()) > 0);
});
