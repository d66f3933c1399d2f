import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { addToolServer, refundTool } from '../../../../harness/tool-server.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);

test('an editor reads the tools of enabled servers, and nothing else about the servers', async () => {
  const headers = { Authorization: 'Bearer s3cr3t' };
  const lookup = { ...refundTool, name: 'lookup', path: '/lookup' };
  const tools = [refundTool, lookup];
  const [first, second] = [
    await addToolServer(service, { url: receiver.url, headers, tools }),
    await addToolServer(service, { url: receiver.url }),
  ];
  const disabled = await addToolServer(service, { url: receiver.url });
  const { path, key: own } = disabled;
  await service.call('PATCH', path, { key: own, body: { enabled: false } });
  const { workspaceId, ownerId: userId } = await service.workspace();
  const { key: elsewhere } = await service.key({ workspaceId, userId });

  const userOfEditor = await service.member('editor');
  const { key } = await service.key({ userId: userOfEditor });
  const read = async (query = '') => {
    const { status, body } = await service.call('GET', `/api/v1/tools${query}`, { key });
    assert.equal(status, 200);
    return body.tools;
  };
  assert.deepEqual(await read(), [
    { server: first.name, tool: 'refund' },
    { server: first.name, tool: 'lookup' },
    { server: second.name, tool: 'refund' },
  ]);
  const { description, inputSchema } = refundTool;
  assert.deepEqual(await read(`?server=${first.name}`), [
    { server: first.name, tool: 'refund', description, inputSchema },
    { server: first.name, tool: 'lookup', description, inputSchema },
  ]);
  assert.deepEqual(await read(`?server=${disabled.name}`), []);
  assert.deepEqual(await read('?server=unknown'), []);
  const { body } = await service.call('GET', '/api/v1/tools', { key: elsewhere });
  assert.deepEqual(body.tools, []);
});
