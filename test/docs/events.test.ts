import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { addEndpoint, type TestEndpoint } from '../../harness/endpoints.ts';
import { freePort } from '../../harness/free-port.ts';
import { startReceiver, status, toReceivers } from '../../harness/receiver.ts';
import { startService } from '../../harness/service.ts';
import { runShell } from '../../harness/shell.ts';

/** Runs the receivers and commands of docs/events.md. */

const text = readFileSync(join(import.meta.dirname, '../../docs/events.md'), 'utf8');
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
const [create = '', read = '', replay = '', alert = ''] = blocks('sh');
const receivers = {
  node: { command: process.execPath, args: ['--input-type=module', '-e', ...blocks('js')] },
  python: { command: 'python3', args: ['-c', ...blocks('python')] },
};

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);

function printed(commands: string, env: Record<string, string>) {
  return runShell(commands, { CUELINE_URL: service.url, CUELINE_KEY: key, ...env });
}

async function shell(commands: string, env: Record<string, string> = {}) {
  return JSON.parse(await printed(commands, env));
}

async function execute() {
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { name: 'Ada' } } },
  });
  return body.executionId as string;
}

/** A request whose client leaves before the end of the body. */
async function abortedPost(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.end('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{');
  socket.resume();
  await once(socket, 'close');
}

/** Resolves once something accepts connections on the port. */
async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    assert.equal(child.exitCode, null, 'the receiver ended');
    const probe = connect(port, '127.0.0.1');
    const connected = await new Promise<boolean>((resolve) => {
      probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    probe.destroy();
    if (connected) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

for (const [name, { command, args }] of Object.entries(receivers)) {
  test(`the receiver in ${name} accepts signed events and refuses others`, async (t) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const { endpointId, secret } = await shell(create, { RECEIVER_URL: url });
    const env = { PATH: process.env.PATH, SECRET: secret, PORT: String(port) };
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill());
    await untilListening(port, child);
    const forged = await fetch(url, {
      method: 'POST',
      headers: {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
        'webhook-signature': `v1,${'A'.repeat(43)}=`,
      },
      body: '{}',
    });
    assert.equal(forged.status, 401);
    assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401);
    await abortedPost(port);
    const executionId = await execute();
    let printed = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      printed += chunk;
      if (printed.includes('\n')) break;
    }
    assert.match(printed, new RegExp(`^evt_\\w+ execution.succeeded ${executionId}\n`));
    await service.call('DELETE', `/api/v1/endpoints/${endpointId}`, { key });
  });
}

/** What the replay of the docs returns for pending and for failed deliveries. */
async function replayed({ endpointId }: TestEndpoint): Promise<string> {
  return await printed(replay, { ENDPOINT: endpointId });
}

test('events that a receiver missed are replayed before their next attempt', async () => {
  const receiver = await startReceiver(status(500));
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, {
    url: receiver.url,
    eventTypes: ['execution.succeeded'],
  });
  await execute();
  const [request] = await receiver.received(1);
  const eventId = String(request?.headers['webhook-id']);
  while ((await endpoint.delivered(eventId, 'pending')).attempts.length === 0);
  receiver.answer = status(200);
  assert.equal(await replayed(endpoint), '{"replayed":1}{"replayed":0}');
  await endpoint.delivered(eventId);
  await endpoint.call('DELETE');
});

test('missed events are replayed, and read from the last one that was seen', async () => {
  const receiver = await startReceiver(status(410));
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, {
    url: receiver.url,
    eventTypes: ['execution.succeeded'],
  });
  const missed = await execute();
  const [request] = await receiver.received(1);
  const eventId = String(request?.headers['webhook-id']);
  let enabled = true;
  while (enabled) enabled = (await endpoint.call('GET')).enabled;
  receiver.answer = status(200);
  await endpoint.call('PATCH', '', { enabled: true });
  assert.equal(await replayed(endpoint), '{"replayed":0}{"replayed":1}');
  const { request: logged } = await endpoint.delivered(eventId);
  assert.equal(logged.data.executionId, missed);
  const { events } = await shell(read);
  assert.ok(events.some((event: { eventId: string }) => event.eventId === eventId));
  const last = events.at(-1).eventId;
  const next = await execute();
  await receiver.received(3);
  const later = await shell(read, { AFTER: last });
  assert.deepEqual(
    later.events.map(({ data }: { data: { executionId?: string } }) => data.executionId),
    [next],
  );
});

test('the alert of the docs is created, and can be previewed', async () => {
  const { alertId } = await shell(alert);
  const path = `/api/v1/alerts/${alertId}/preview`;
  const { status: answered } = await service.call('POST', path, { key, body: { days: 7 } });
  assert.equal(answered, 200);
});
