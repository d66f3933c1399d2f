import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../harness/agents.ts';
import { type Service, startService } from '../../../harness/service.ts';
import { ModelFailure } from '../../../src/core/model/model-port.ts';
import { insertAliases } from '../../../src/features/agents/statements/slugs.ts';
import { json, type Step, silence, stage } from '../../client/server.ts';
import { cueline, jsonLines, spawnCommand } from '../cueline.ts';

/** `cueline exec`, `wait` and `cancel` as processes against the real service. */

let service: Service;
let agent: TestAgent;
let env: Record<string, string>;

before(async () => {
  service = await startService();
  agent = await addAgent(service, {
    ...{
      slug: 'executed',
      user: '{{a}}|{{b}}|{{c}}',
      requiredVariables: ['a'],
      optionalVariables: ['b', 'c'],
    },
  });
  env = { CUELINE_URL: service.url, CUELINE_KEY: (await service.key()).key };
});
after(() => service.close());

test('variables from the file, as strings and as JSON are sent unchanged', async () => {
  const file = JSON.stringify({ a: 'file', b: 'file', c: null }).replace('null', '1.50');
  const given = ['--vars-file', '-', '--var', 'a=x=y', '--var-json', 'b=[9007199254740993, 1e2]'];
  const ended = await cueline(['exec', agent.agentId, ...given, '--wait'], env, file);
  assert.deepEqual(ended, { code: 0, stdout: 'x=y|[9007199254740993,1e2]|1.50\n', stderr: '' });
});

test('records keep the exact numbers', async () => {
  const given = ['--var', 'a=1', '--var-json', 'b=[9007199254740993,1.50,7]'];
  const ended = await cueline(['exec', agent.agentId, ...given, '--wait', '--json'], env);
  assert.match(ended.stdout, /"b":\[9007199254740993,1\.50,7\]/);
  const listed = await cueline(['history', agent.agentId, '--limit', '1', '--json'], env);
  assert.match(listed.stdout, /"b":\[9007199254740993,1\.50,7\]/);
});

test('an agent is named by its slug or an alias', async () => {
  const { workspaceId, db } = service;
  await insertAliases(db, { workspaceId, subject: agent.id }, ['pmpt_Ab:c.d']);
  for (const name of ['executed', 'pmpt_Ab:c.d']) {
    const ended = await cueline(['exec', name, '--var', 'a=1', '--wait'], env);
    assert.deepEqual(ended, { code: 0, stdout: '1||\n', stderr: '' });
    const listed = await cueline(['history', name, '--limit', '1', '--json'], env);
    assert.equal(jsonLines(listed)[0].agentId, agent.agentId);
  }
});

test('a file may start with a byte order mark', async () => {
  const args = ['exec', agent.agentId, '--vars-file', '-', '--wait'];
  const ended = await cueline(args, env, '\ufeff{"a":"x"}');
  assert.deepEqual(ended, { code: 0, stdout: 'x||\n', stderr: '' });
});

test('without --wait, exec prints the id, and wait prints the record', async () => {
  const { stdout, stderr, code } = await cueline(
    ['exec', agent.agentId, '--var', 'a=1', '--var', 'odd=2'],
    env,
  );
  assert.deepEqual(
    [code, stderr],
    [0, 'Ignored variables that the agent does not declare: odd.\n'],
  );
  assert.match(stdout, /^exe_\w{26}\n$/);
  const waited = await cueline(['wait', agent.agentId, stdout.trim(), '--json'], env);
  const [record] = jsonLines(waited);
  assert.deepEqual([record.executionId, record.outputText], [stdout.trim(), '1||']);
});

test('a failed execution sets the exit code and prints its error on one line', async () => {
  service.models.script(new ModelFailure('CONTENT_FILTERED', 'Not\n\x1b[1mthat.'));
  const ended = await cueline(['exec', agent.agentId, '--var', 'a=1', '--wait', '--json'], env);
  assert.equal(ended.code, 1);
  const [record] = jsonLines(ended);
  assert.deepEqual([record.status, record.errorCode], ['failed', 'CONTENT_FILTERED']);
  assert.equal(ended.stderr, `cueline: Not [1mthat. (CONTENT_FILTERED, ${record.executionId})\n`);
});

test('the same idempotency key executes once', async () => {
  const args = ['exec', agent.agentId, '--var', 'a=1', '--idempotency-key', 'once', '--json'];
  const [first] = jsonLines(await cueline(args, env));
  await cueline(['wait', agent.agentId, first.executionId], env);
  const again = await cueline(args, env);
  assert.deepEqual(jsonLines(again), [{ ...first, currentStatus: 'success' }]);
  assert.match(again.stderr, /Repeated call of exe_\w+, now success\./);
});

test('an execution is canceled once, and a wait times out', async () => {
  const heldCall = service.models.hold();
  const args = ['exec', agent.agentId, '--var', 'a=1', '--timeout', '0', '--json'];
  const ended = await cueline(args, env);
  await heldCall.arrived;
  assert.equal(ended.code, 1);
  const [, executionId = ''] =
    /^cueline: (exe_\w+) has not ended .*\(WAIT_TIMEOUT\)/.exec(ended.stderr) ?? [];
  const cancel = ['cancel', agent.agentId, executionId];
  const canceled = await cueline(cancel, env);
  assert.equal(canceled.stdout, `${executionId}: canceled.\n`);
  const again = await cueline(cancel, env);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /^cueline: .*\(ALREADY_ENDED, req_\w+\)\n$/);
});

test('an invalid command prints one line and exits with 1', async () => {
  const exec = ['exec', agent.agentId];
  const cases: [string[], RegExp, Record<string, string>?][] = [
    [exec, /^cueline: .* \(MISSING_VARIABLES, req_\w+\)\n$/],
    [['exec', 'agt_none', '--var', 'a=1'], /\(NOT_FOUND, req_\w+\)\n$/],
    [['exec', '..'], /Expected an identifier/],
    [[...exec, '--var', 'a'], /Expected name=value/],
    [[...exec, '--var-json', 'a={'], /^cueline: --var-json a is not valid JSON: .*\n$/],
    [[...exec, '--vars-file', '/nowhere'], /^cueline: Cannot read \/nowhere: ENOENT.*\n$/],
    [[...exec, '--vars-file', '-'], /^cueline: - must contain a JSON object\.\n$/],
    [exec, /^cueline: No API key: set CUELINE_KEY or pass --key\.\n$/, { CUELINE_KEY: '' }],
    [[...exec, '--key', 'cue_x'], /\(UNAUTHORIZED, req_\w+\)\n$/],
    [
      [...exec, '--idempotency-key', 'k', '--url', 'http://127.0.0.1:1'],
      /\(CONNECTION_FAILED\)\n$/,
    ],
  ];
  const ended = await Promise.all(
    cases.map(([args, , more]) => cueline(args, { ...env, ...more }, '[1]')),
  );
  ended.forEach(({ code, stdout, stderr }, at) => {
    assert.match(stderr, cases[at]?.[1] ?? /^$/);
    assert.deepEqual([code, stdout], [1, '']);
  });
});

test('with --stream, the text is printed as it arrives', async () => {
  service.models.script(async (_call, emit) => {
    emit({ type: 'text', text: 'one ' });
    return { text: 'two' };
  });
  const args = ['exec', agent.agentId, '--var', 'a=1', '--stream'];
  assert.deepEqual(await cueline(args, env), { code: 0, stdout: 'one two\n', stderr: '' });
  const [record] = jsonLines(await cueline([...args, '--json'], env));
  assert.deepEqual([record.status, record.outputText], ['success', '1||']);
});

test('with --stream, a failed execution ends with code 1', async () => {
  service.models.script(new ModelFailure('CONTENT_FILTERED', 'No.'));
  const { code, stdout, stderr } = await cueline(
    ['exec', agent.agentId, '--var', 'a=1', '--stream'],
    env,
  );
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^cueline: No\. \(CONTENT_FILTERED, exe_\w+\)\n$/);
});

test('Ctrl-C ends the wait but not the execution', async (t) => {
  const { url, requests, waiting } = await heldServer(t);
  const running = spawnCommand(['exec', 'agt_1', '--wait'], { ...env, CUELINE_URL: url });
  await waiting;
  running.interrupt();
  const { code, stdout, stderr } = await running.ended;
  assert.deepEqual([code, stdout], [130, '']);
  assert.equal(stderr, 'The execution continues. To wait again: cueline wait agt_1 exe_1\n');
  assert.equal(requests.length, 2);
});

test('with --cancel-on-interrupt, Ctrl-C cancels the execution', async (t) => {
  const { url, requests, waiting } = await heldServer(t);
  const args = ['exec', 'agt_1', '--cancel-on-interrupt'];
  const running = spawnCommand(args, { ...env, CUELINE_URL: url });
  await waiting;
  running.interrupt();
  const { code, stderr } = await running.ended;
  assert.deepEqual([code, stderr], [130, 'exe_1: canceled.\n']);
  const last = requests.at(-1);
  assert.deepEqual(
    [last?.method, last?.url],
    ['POST', '/api/v1/agents/agt_1/executions/exe_1/cancel'],
  );
});

/** Accepts an execution that never ends; `waiting` resolves when its status is requested. */
async function heldServer(t: Parameters<typeof stage>[0]) {
  const { promise: waiting, resolve } = Promise.withResolvers<void>();
  const hold: Step = (response, requests) => {
    silence(response, requests);
    resolve();
  };
  const accepted = json(202, { executionId: 'exe_1', status: 'processing' });
  const canceled = json(200, { executionId: 'exe_1', status: 'canceled' });
  return { ...(await stage(t, accepted, hold, canceled)), waiting };
}
