import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { verified } from '../../../harness/endpoints.ts';
import { startReceiver } from '../../../harness/receiver.ts';
import { startService } from '../../../harness/service.ts';
import { spawnCommand } from '../cueline.ts';

/** `cueline listen` as a process against the real service. */

const service = await startService();
after(service.close);
const { key } = await service.key();

async function endpoints() {
  const { body } = await service.call('GET', '/api/v1/endpoints', { key });
  return body.endpoints as { endpointId: string; url: string | null }[];
}

test('events are forwarded, signed with the printed secret; on Ctrl-C the endpoint is deleted', async () => {
  const receiver = await startReceiver();
  after(receiver.close);
  const args = ['listen', '--forward-to', receiver.url, '--json'];
  const command = spawnCommand(args, { CUELINE_URL: service.url, CUELINE_KEY: key });
  while ((await endpoints()).length === 0);
  const { path } = await addAgent(service);
  await service.call('POST', `${path}/execute`, { key, body: { variables: { name: 'Ada' } } });
  const [request] = await receiver.received(1);
  command.interrupt();
  const { stdout, stderr } = await command.ended;
  const [created = '', ...forwarded] = stdout.trimEnd().split('\n');
  const { secret } = JSON.parse(created);
  assert.ok(request, stderr);
  assert.equal(verified(secret, request).type, 'execution.succeeded');
  if (forwarded[0]) {
    const { eventId, answer } = JSON.parse(forwarded[0]);
    assert.deepEqual([eventId, answer], [request.headers['webhook-id'], 200]);
  }
  assert.deepEqual(await endpoints(), []);
});

test('an invalid URL is refused before an endpoint is created', async () => {
  const args = ['listen', '--forward-to', 'localhost:3000'];
  const env = { CUELINE_URL: service.url, CUELINE_KEY: key };
  const { code, stderr } = await spawnCommand(args, env).ended;
  assert.equal(code, 1);
  assert.match(stderr, /--forward-to must be a URL/);
  assert.deepEqual(await endpoints(), []);
});
