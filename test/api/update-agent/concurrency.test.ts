import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

async function execute(path: string): Promise<string> {
  const call = { key, body: { variables: { name: 'x' } } };
  return (await service.call('POST', `${path}/execute`, call)).body.statusUrl;
}

test('raising or removing maxConcurrency starts waiting executions', async () => {
  const { path } = await addAgent(service, { config: { maxConcurrency: 1 } });
  const held = [service.models.hold(), service.models.hold(), service.models.hold()];
  const urls = [await execute(path), await execute(path), await execute(path)];
  await held[0]?.arrived;
  assert.equal(service.models.calls.length, 1);

  await service.call('PATCH', path, { key, body: { agentConfig: { maxConcurrency: 2 } } });
  await held[1]?.arrived;
  assert.equal(service.models.calls.length, 2);

  await service.call('PATCH', path, { key, body: { agentConfig: { maxConcurrency: null } } });
  await held[2]?.arrived;
  for (const one of held) one.release();
  for (const url of urls) assert.equal((await ended(service, url, key)).status, 'success');
});

test('lowering maxConcurrency keeps running executions, and starts none until enough end', async () => {
  const { path } = await addAgent(service, { config: { maxConcurrency: 2 } });
  const before = service.models.calls.length;
  const held = [service.models.hold(), service.models.hold(), service.models.hold()];
  const urls = [await execute(path), await execute(path), await execute(path)];
  await Promise.all([held[0]?.arrived, held[1]?.arrived]);
  await service.call('PATCH', path, { key, body: { agentConfig: { maxConcurrency: 1 } } });
  held[0]?.release();
  const firstEnd = await Promise.race(urls.slice(0, 2).map((url) => ended(service, url, key)));
  assert.equal(firstEnd.status, 'success');
  assert.equal(service.models.calls.length - before, 2);
  held[1]?.release();
  await held[2]?.arrived;
  held[2]?.release();
  for (const url of urls) assert.equal((await ended(service, url, key)).status, 'success');
});
