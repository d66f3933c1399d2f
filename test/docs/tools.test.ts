import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { freePort } from '../../harness/free-port.ts';
import { toReceivers } from '../../harness/receiver.ts';
import { startService } from '../../harness/service.ts';
import { runShell } from '../../harness/shell.ts';
import { createModels } from '../../src/models/registry.ts';

/** Runs the receivers, the command and the files of docs/tools.md but those of the demo, which start.test.ts runs. */

const text = readFileSync(join(import.meta.dirname, '../../docs/tools.md'), 'utf8');
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
const [, create = ''] = blocks('sh');
const [, agents = '', servers = ''] = blocks('yaml');
const receivers = {
  node: { command: process.execPath, args: ['--input-type=module', '-e', ...blocks('js')] },
  python: { command: 'python3', args: ['-c', ...blocks('python')] },
};

const models = createModels({
  open: () => assert.fail('no provider is configured'),
  ...{ env: {}, allowedHosts: [] },
});
after(() => models.close());

/** Resolves once something accepts connections on the port. */
async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    assert.equal(child.exitCode, null, 'the receiver ended');
    const probe = connect(port, '127.0.0.1');
    const isUp = await Promise.race([
      once(probe, 'connect').then(() => true),
      once(probe, 'error').then(() => false),
    ]).catch(() => false);
    probe.destroy();
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

for (const [name, { command, args }] of Object.entries(receivers)) {
  test(`the example works with the receiver in ${name}, which refuses what is not signed`, async (t) => {
    const service = await startService({ config: toReceivers, models });
    t.after(service.close);
    const { key } = await service.key();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const env = { CUELINE_URL: service.url, CUELINE_KEY: key, TOOLS_URL: url };
    const { signingSecret } = JSON.parse(await runShell(create, env));
    const child = spawn(command, args, {
      env: { PATH: process.env.PATH, SECRET: signingSecret, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.after(() => child.kill());
    await untilListening(port, child);
    assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401);
    const applied = await service.call('POST', '/api/v1/declaration', {
      ...{ key, body: { declaration: parse(agents) } },
    });
    assert.equal(applied.status, 200, applied.body.message);
    const { body: accepted } = await service.call('POST', '/api/v1/agents/order-desk/execute', {
      ...{ key, body: { variables: { question: 'Where is it?' } } },
    });
    const path = `/api/v1/agents/order-desk/executions/${accepted.executionId}`;
    const { body: record } = await service.call('GET', `${path}?wait=60`, { key });
    assert.deepEqual([record.status, record.turns, record.toolCallsMade], ['success', 2, 1]);
    const { body } = await service.call('GET', `${path}/steps`, { key });
    const calls = body.steps.filter(({ kind }: { kind: string }) => kind === 'tool');
    assert.equal(calls.length, 1);
    assert.deepEqual(JSON.parse(calls[0].result), { orderId: 'o-1', state: 'shipped' });
  });
}

test('the declaration of a server can be applied', async (t) => {
  const service = await startService();
  t.after(service.close);
  const { key } = await service.key();
  const applied = await service.call('POST', '/api/v1/declaration', {
    ...{ key, body: { declaration: parse(servers) } },
  });
  assert.equal(applied.status, 200, applied.body.message);
});
