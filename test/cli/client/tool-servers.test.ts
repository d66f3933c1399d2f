import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Receiver, startReceiver, status, toReceivers } from '../../../harness/receiver.ts';
import { type Service, startService } from '../../../harness/service.ts';
import { refundTool } from '../../../harness/tool-server.ts';
import { type CommandResult, cueline, jsonLines } from '../cueline.ts';

/** `cueline tool-servers`, and tool servers in `cueline.yaml`, as processes against the real service. */

let service: Service;
let receiver: Receiver;
let key: string;
let directory: string;

before(async () => {
  service = await startService({ config: toReceivers });
  receiver = await startReceiver();
  key = (await service.key()).key;
  directory = await mkdtemp(join(tmpdir(), 'tool-servers-test-'));
});
after(async () => {
  await service.close();
  await receiver.close();
  await rm(directory, { recursive: true });
});

function call(args: readonly string[], env: Record<string, string> = {}): Promise<CommandResult> {
  return cueline([...args], { CUELINE_URL: service.url, CUELINE_KEY: key, ...env });
}

async function write(name: string, text: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, text);
  return file;
}

test('creates, lists, shows, changes, tries, rotates and deletes a server', async () => {
  const settings = { name: 'crm', kind: 'http', url: receiver.url, tools: [refundTool] };
  const file = await write(
    'server.json',
    JSON.stringify({ ...settings, headers: { a: 'hidden' } }),
  );
  const [created] = jsonLines(await call(['tool-servers', 'create', file, '--json']));
  assert.match(created.signingSecret, /^whsec_/);
  const id = created.toolServerId;
  const listed = jsonLines(await call(['tool-servers', 'list', '--json']));
  assert.deepEqual(
    listed.map(({ name, toolNames }) => [name, toolNames]),
    [['crm', ['refund']]],
  );
  const tools = await call(['tool-servers', 'tools', '--server', 'crm']);
  assert.match(tools.stdout, /^crm +refund +Pays an order back\.$/m);
  const shown = await call(['tool-servers', 'show', id]);
  assert.match(shown.stdout, /^headerNames +a$/m);
  assert.doesNotMatch(shown.stdout, /hidden|whsec_/);
  const change = await write('change.json', JSON.stringify({ timeoutMs: 5_000 }));
  assert.match((await call(['tool-servers', 'update', id, change])).stdout, /^timeoutMs +5000$/m);

  const given = await write('arguments.json', '{"orderId":"o-1"}');
  const tried = await call(['tool-servers', 'try', id, 'refund', '--arguments-file', given]);
  assert.deepEqual([tried.code, /^result +thanks$/m.test(tried.stdout)], [0, true]);
  assert.equal(receiver.requests.at(-1)?.body, '{"orderId":"o-1"}');
  receiver.answer = status(404);
  const failed = await call(['tool-servers', 'try', id, 'refund']);
  assert.deepEqual([failed.code, /status 404/.test(failed.stdout)], [1, true]);

  const rotated = await call(['tool-servers', 'rotate', id, '--grace-seconds', '60']);
  assert.match(rotated.stdout, /^signingSecret +whsec_/m);
  assert.match((await call(['tool-servers', 'delete', id])).stdout, /Removed the tool server/);
});

test('headers in cueline.yaml are variables of the environment', async () => {
  const file = await write(
    'cueline.yaml',
    [
      'toolServers:',
      '  - name: shop',
      '    kind: http',
      `    url: ${receiver.url}`,
      '    headers:',
      ['      Authorization: Bearer $', '{SHOP_TOKEN}'].join(''),
      '    tools: []',
    ].join('\n'),
  );
  const missing = await call(['apply', file]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /toolServers "shop", header Authorization.*SHOP_TOKEN/);
  const env = { SHOP_TOKEN: 'tok-5ecret' };
  assert.match((await call(['apply', file], env)).stdout, /^\+ toolServer shop$/m);
  assert.match((await call(['apply', file], env)).stdout, /No changes/);
  const changed = await call(['diff', file], { SHOP_TOKEN: 'tok-other' });
  assert.match(changed.stdout, /^~ toolServer shop: headers → \["Authorization"\]$/m);
  assert.doesNotMatch(changed.stdout + changed.stderr, /tok-/);
  const pulled = await call(['pull', '-']);
  assert.match(pulled.stdout, /^toolServers:\n {2}- name: shop$/m);
  assert.doesNotMatch(pulled.stdout, /tok-/);
});
