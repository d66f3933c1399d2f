import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

async function execute(path: string): Promise<string> {
  const call = { key, body: { variables: { name: 'x' } } };
  return (await service.call('POST', `${path}/execute`, call)).body.statusUrl;
}

test('raising or removing maxConcurrency starts waiting executions', async () => {
  const { path } = await addAgent(service, { config: { maxConcurrency: 1 } });
  const heldCalls = [service.models.hold(), service.models.hold(), service.models.hold()];
  const urls = [await execute(path), await execute(path), await execute(path)];
  await heldCalls[0]?.arrived;
  assert.equal(service.models.calls.length, 1);

  await service.call('PATCH', path, { key, body: { agentConfig: { maxConcurrency: 2 } } });
  await heldCalls[1]?.arrived;
  assert.equal(service.models.calls.length, 2);

  await service.call('PATCH', path, { key, body: { agentConfig: { maxConcurrency: null } } });
  await heldCalls[2]?.arrived;
  for (const one of heldCalls) one.release();
  for (const url of urls) assert.equal((await ended(service, url, key)).status, 'success');
});

test('lowering maxConcurrency keeps running executions, and starts none until enough end', async () => {
  const { path } = await addAgent(service, { config: { maxConcurrency: 2 } });
  const before = service.models.calls.length;
  const heldCalls = [service.models.hold(), service.models.hold(), service.models.hold()];
  const urls = [await execute(path), await execute(path), await execute(path)];
  await Promise.all([heldCalls[0]?.arrived, heldCalls[1]?.arrived]);
  await service.call('PATCH', path, { key, body: { agentConfig: { maxConcurrency: 1 } } });
  heldCalls[0]?.release();
  const firstEnd = await Promise.race(urls.slice(0, 2).map((url) => ended(service, url, key)));
  assert.equal(firstEnd.status, 'success');
  assert.equal(service.models.calls.length - before, 2);
  heldCalls[1]?.release();
  await heldCalls[2]?.arrived;
  heldCalls[2]?.release();
  for (const url of urls) assert.equal((await ended(service, url, key)).status, 'success');
});
