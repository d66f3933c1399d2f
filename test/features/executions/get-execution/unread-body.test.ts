import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);

test('an unread body is discarded while the request is open', async () => {
  const { key } = await service.key();
  const agent = await addAgent(service, { user: 'x' });
  const heldCall = service.models.hold();
  const body = { variables: {} };
  const { body: accepted } = await service.call('POST', `${agent.path}/execute`, { key, body });
  await heldCall.arrived;
  // More than the kernel buffers for a server that does not read.
  const bytes = 64 * 1024 * 1024;
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  let response = '';
  socket.on('data', (text) => {
    response += text;
  });
  socket.write(
    `GET ${accepted.statusUrl}?wait=60 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: ${bytes}\r\n\r\n`,
  );
  await new Promise((resolve) => socket.write(Buffer.alloc(bytes), resolve));
  assert.equal(response, '');
  heldCall.release();
  while (!response.includes('"success"'))
    await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
});
