import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { addAgent, run } from '../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../harness/created-workflows.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { type Service, startService } from '../../../harness/service.ts';
import { stage } from '../../client/server.ts';
import { type CommandResult, cueline, jsonLines } from '../cueline.ts';

/** `cueline retention`, `delete` and `erase` as processes against the real service. */

let service: Service;
let key: string;

before(async () => {
  service = await startService();
  key = (await service.key()).key;
});
after(() => service.close());

function call(...args: string[]): Promise<CommandResult> {
  return cueline(args, { CUELINE_URL: service.url, CUELINE_KEY: key });
}

test('omitted settings do not change', async () => {
  const set = await call('retention', '--bodies-days', '7', '--json');
  assert.deepEqual(jsonLines(set), [{ recordsDays: 90, bodiesDays: 7 }]);
  const shown = await call('retention', '--records-days', 'none');
  assert.equal(shown.stdout, 'recordsDays  -\nbodiesDays   7\n');
  assert.equal((await call('retention', '--records-days', '0')).code, 1);
});

test('deletes one record, and all records of an end user', async () => {
  const agent = await addAgent(service, { optionalVariables: ['customer'] });
  const variables = { name: 'you', customer: 'c=1' };
  const [one, two] = [
    await run(service, agent, key, variables),
    await run(service, agent, key, variables),
  ];
  const gone = await call('delete', agent.agentId, one.executionId);
  assert.equal(gone.stdout, `Deleted the record of ${one.executionId}.\n`);
  assert.equal((await call('delete', agent.agentId, one.executionId)).code, 1);
  const erased = await call('erase', 'customer=c=1', '--agent', agent.agentId);
  assert.match(erased.stdout, /^era_\w{26}\n$/);
  await runRetentionRound(service.db, service.database);
  const [erasure] = jsonLines(await call('erasures', '--json'));
  assert.deepEqual([erasure.status, erasure.deleted], ['completed', 1]);
  const path = `${agent.path}/executions/${two.executionId}`;
  assert.equal((await service.call('GET', path, { key })).status, 404);
});

test('erase names the schedules to change', async () => {
  const agent = await addAgent(service);
  const workflow = await makeWorkflow(service, greeting(agent.agentId));
  const body = { cron: '0 0 1 1 *', input: { name: 'c-scheduled' } };
  const { body: schedule } = await service.call('POST', `${workflow.path}/schedules`, {
    key,
    body,
  });
  const erased = await call('erase', 'name=c-scheduled');
  assert.ok(erased.stderr.includes(schedule.scheduleId), erased.stderr);
});

test('a page of another server is not a successful deletion', async (t) => {
  const { url } = await stage(t, (response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  );
  const folder = await mkdtemp(join(tmpdir(), 'cueline-page-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'file');
  await writeFile(file, '{}');
  const commands = [
    ['delete', 'agt_x', 'exe_x'],
    ['erase', 'a=b'],
    ['retention'],
    ['exec', 'agt_x'],
    ['wait', 'agt_x', 'exe_x'],
    ['cancel', 'agt_x', 'exe_x'],
    ['agents', 'list'],
    ['pull', file],
    ['apply', file],
    ['history', 'export'],
  ];
  for (const args of commands) {
    const ended = await cueline(args, { CUELINE_URL: url, CUELINE_KEY: key });
    assert.deepEqual([ended.code, ended.stdout], [1, ''], args.join(' '));
    assert.match(ended.stderr, /^cueline: .* 200 with text\/html, .*\(UNEXPECTED_ANSWER\)\n$/);
  }
});
