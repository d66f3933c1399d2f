import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addAgent, ended, run, type TestAgent } from '../../../harness/agents.ts';
import { type Service, startService } from '../../../harness/service.ts';
import { type CommandResult, cueline, jsonLines } from '../cueline.ts';

/** `cueline agents`, `prompts` and `history` as processes against the real service. */

let service: Service;
let key: string;
let agent: TestAgent;

before(async () => {
  service = await startService();
  key = (await service.key()).key;
  agent = await addAgent(service);
});
after(() => service.close());

function call(args: readonly string[], input?: string): Promise<CommandResult> {
  return cueline(args, { CUELINE_URL: service.url, CUELINE_KEY: key }, input);
}

test('creates a prompt, deploys an agent and pins another version', async () => {
  const created = await call([
    'prompts',
    'create',
    '--name',
    'Greeting',
    '--description',
    'Hello.',
  ]);
  assert.match(created.stdout, /^prm_\w{26}\n$/);
  const promptId = created.stdout.trim();
  const add = ['prompts', 'add-version', promptId, '--user-file', '-', '--model', 'cueline/echo'];
  const first = await call([...add, '--label', 'plain'], 'Hi {{name}}\n');
  assert.match(first.stdout, /^ver_\w{26}\n$/);
  const [second] = jsonLines(await call([...add, '--notes', 'shorter', '--json'], '{{name}}!'));
  assert.deepEqual([second.number, second.user, second.system], [2, '{{name}}!', null]);

  const odd = await call([...add, '--label', 'odd', '--json'], '{{my-var}} {{name}}');
  assert.deepEqual(jsonLines(odd)[0].warnings, [{ placeholder: '{{my-var}}', template: 'user' }]);
  assert.match(odd.stderr, /sent to the model unchanged: \{\{my-var\}\} \(user template\)/);

  const shown = await call(['prompts', 'show', promptId, first.stdout.trim()]);
  assert.match(shown.stdout, /^user\n {2}Hi \{\{name\}\}$/m);
  const [prompt] = jsonLines(await call(['prompts', 'show', promptId, '--json']));
  assert.deepEqual([prompt.name, prompt.versionCount], ['Greeting', 3]);
  const versions = await call(['prompts', 'versions', promptId]);
  assert.match(
    versions.stdout,
    /^promptVersionId +promptVersionLabel.*\nver_.* odd .*\nver_.* v2 .*\nver_.* plain /,
  );
  const prompts = jsonLines(await call(['prompts', 'list', '--q', 'greet', '--json']));
  assert.deepEqual(prompts, [prompt]);

  const body = { agentName: 'Greeter', promptId, promptVersionId: first.stdout.trim() };
  const { agentId } = (await service.call('POST', '/api/v1/agents', { key, body })).body;
  const moved = await call(['agents', 'lifecycle', agentId, 'enable-api']);
  assert.equal(moved.stdout, 'Greeter is now Testing.\n');
  const illegal = await call(['agents', 'lifecycle', agentId, 'disable']);
  assert.equal(illegal.code, 1);
  assert.match(illegal.stderr, /^cueline: .*\(ILLEGAL_TRANSITION, req_\w+\)\n$/);
  const pin = ['agents', 'pin', agentId, second.promptVersionId, '--json'];
  assert.equal(jsonLines(await call(pin))[0].promptVersionLabel, 'v2');
  const pins = jsonLines(await call(['agents', 'pins', agentId, '--json']));
  assert.deepEqual(
    pins.map((one) => one.promptVersionLabel),
    ['v2', 'plain'],
  );
  const listed = await call(['agents', 'list', '--status', 'Testing']);
  assert.match(
    listed.stdout,
    new RegExp(`^agentId .*\\n${agentId} +Greeter +greeter +Testing +true +v2\\n$`),
  );
  const single = await call(['agents', 'show', agentId]);
  assert.match(single.stdout, /^agentName +Greeter$/m);
});

test('history prints a page as a table and all records as JSON', async () => {
  for (const name of ['a', 'b', 'c']) await run(service, agent, key, { name });
  const table = await call(['history', agent.agentId, '--limit', '2']);
  assert.match(table.stdout, /^executionId +executedAt .*\n(exe_\w{26} .* success +api .*\n){2}$/);
  assert.equal(table.stderr, '2 of 3 records. Use --all to list all of them.\n');
  const all = await call(['history', agent.agentId, '--all', '--json', '--status', 'success']);
  const outputs = jsonLines(all).map((record) => record.outputText);
  assert.deepEqual([all.stderr, outputs], ['', ['Hello c', 'Hello b', 'Hello a']]);
  const none = await call(['history', agent.agentId, '--end-date', '2001-01-01', '--json']);
  assert.deepEqual([none.code, none.stdout], [0, '']);
  assert.equal((await call(['history', agent.agentId, '--limit', '0'])).code, 1);
  const wrong = await call(['history', agent.agentId, '--status', 'fine']);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^cueline: Parameter "status" must be one of success, .*req_\w+\)\n$/);
});

test('history sorts, adds totals, and lists sessions', async () => {
  const other = await addAgent(service);
  for (const session of ['s1', 's2']) {
    const { body } = await service.call('POST', `${other.path}/execute`, {
      key,
      body: { variables: { name: session }, session, user: 'cli' },
    });
    await ended(service, body.statusUrl, key);
  }
  const listed = await call([
    'history',
    other.agentId,
    '--sort',
    'executedAt',
    '--totals',
    '--json',
  ]);
  const [first, second, last] = jsonLines(listed);
  assert.deepEqual([first?.session, second?.session], ['s1', 's2']);
  assert.equal((last?.totals as { executions?: number } | undefined)?.executions, 2);
  const text = await call(['history', other.agentId, '--totals']);
  assert.match(text.stdout, /^executions +2$/m);
  const sessions = await call(['history', 'sessions', '--user', 'cli']);
  assert.match(sessions.stdout, /^session .*\ns2 +cli +1 .*\ns1 +cli +1 .*\n$/);
  const wrong = await call(['history', other.agentId, '--sort', 'cost']);
  assert.equal(wrong.code, 1);
});
