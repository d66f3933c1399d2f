import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { ModelFailure } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';
import { cueline, jsonLines, spawnCommand } from '../cueline.ts';

/** `cueline test` as a process against the real service. */

const service = await startService();
const folder = mkdtempSync(join(tmpdir(), 'cueline-test-'));
const file = join(folder, 'cueline.yaml');
after(async () => {
  rmSync(folder, { recursive: true });
  await service.close();
});

let key = '';
let workspaceId = '';
/** Each test has a workspace of its own. */
beforeEach(async () => {
  const created = await service.workspace();
  workspaceId = created.workspaceId;
  ({ key } = await service.key({ workspaceId, userId: created.ownerId }));
});

const run = (...args: string[]) => cueline(args, { CUELINE_URL: service.url, CUELINE_KEY: key });
const get = async (path: string) => (await service.call('GET', path, { key })).body;

function write(text: string): void {
  writeFileSync(file, text);
}

const greeting = (examples: string, user = 'Hello {{name}}.', label = 'v1') => `
prompts:
  - name: Greeting
    versions:
      - { label: ${label}, user: '${user}', model: cueline/echo }
agents:
  - name: Greeter
    prompt: Greeting
    version: ${label}
    examples:
${examples.trim().replaceAll(/^/gm, '      ')}
`;

test('a file is tested before it is applied, and leaves nothing but records', async () => {
  write(
    greeting(`
- { name: equals, variables: { name: Ada }, expect: { equals: Hello Ada. } }
- { variables: { name: Bo }, expect: { contains: Bo, cel: 'record.playground && record.tokensUsed > 0' } }
- { variables: { name: Bo }, expect: {} }`),
  );
  const tested = await run('test', file);
  assert.equal(tested.stderr, '');
  assert.match(tested.stdout, /^agent +example +status +latencyMs +costUSD$/m);
  assert.match(tested.stdout, /^Greeter +equals +passed +\d+ +0$/m);
  assert.match(tested.stdout, /^Greeter +example 2 +passed/m);
  assert.match(tested.stdout, /\n\n3 passed\.\n$/);
  assert.equal(tested.code, 0);
  const { agents } = await get('/api/v1/agents');
  const { prompts } = await get('/api/v1/prompts');
  assert.deepEqual([agents, prompts], [[], []]);
  const { rows } = await sql<{ source: string; version: string }>`
    select e.source, v.label as version
    from executions e join prompt_versions v on v.id = e.prompt_version_id
      join agents a on a.id = e.agent_id
    where a.workspace_id = ${workspaceId}`.execute(service.db);
  assert.deepEqual(rows, Array(3).fill({ source: 'api_playground', version: 'v1' }));
});

test('the declared settings and version are tested, the pinned ones on request', async () => {
  const examples = "- { variables: { name: Ada }, expect: { equals: 'Hello Ada.' } }";
  write(greeting(examples));
  await run('apply', file);
  const [agent] = (await get('/api/v1/agents')).agents;
  await service.call('POST', `/api/v1/agents/${agent.agentId}/lifecycle`, {
    ...{ key, body: { action: 'enable-api' } },
  });
  write(greeting(examples, 'Hi {{name}}!', 'v2'));
  const declared = await run('test', file);
  assert.equal(declared.code, 1, declared.stderr);
  assert.match(declared.stdout, /^ {2}equals: expected "Hello Ada\.", got "Hi Ada!"$/m);
  const pinned = await run('test', file, '--pinned', '--json');
  assert.equal(pinned.code, 0, pinned.stderr);
  const [{ record }] = jsonLines(pinned);
  assert.deepEqual([record.agentId, record.playground], [agent.agentId, true]);
  // The label of the draft is free, so its text can still change.
  write(greeting(examples, 'Hello {{name}}.', 'v2'));
  assert.equal((await run('test', file)).code, 0);
  assert.equal((await run('apply', file)).code, 0);
  assert.match((await run('pull', '-')).stdout, /label: v2/);
});

test('each kind of expectation fails with what was expected', async () => {
  write(
    greeting(
      `
- { name: equals, variables: { v: a }, expect: { equals: { kind: b } } }
- { name: same, variables: { v: a }, expect: { equals: { n: 1.0, kind: a } } }
- { name: contains, variables: { v: a }, expect: { contains: b } }
- { name: schema, variables: { v: a }, expect: { matchesSchema: { required: [other] } } }
- { name: matches, variables: { v: a }, expect: { matchesSchema: { properties: { kind: { const: a } } } } }
- { name: cel, variables: { v: a }, expect: { cel: 'record.outputText.matches("b")' } }
- { name: no bool, variables: { v: a }, expect: { cel: 'record.outputText' } }
- { name: no field, variables: { v: a }, expect: { cel: 'record.outputJson.kind == "a"' } }`,
      '{"kind": "{{v}}", "n": 1}',
    ),
  );
  const { code, stdout } = await run('test', file, '--json');
  assert.equal(code, 1);
  const results = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    Object.fromEntries(results.map(({ example, problems }) => [example, problems.join()])),
    {
      equals: 'equals: expected {"kind":"b"}, got {"kind":"a","n":1}',
      same: '',
      contains: 'contains: "b" is not in "{\\"kind\\": \\"a\\", \\"n\\": 1}"',
      schema: `matchesSchema: the output must have required property 'other': {"kind":"a","n":1}`,
      matches: '',
      cel: 'cel: record.outputText.matches("b") is false',
      'no bool': 'cel: record.outputText is "{\\"kind\\": \\"a\\", \\"n\\": 1}"',
      'no field': 'cel: record.outputJson.kind == "a": No such key: outputJson',
    },
  );
});

test('what fails to execute fails, and what is not executed could not be run', async () => {
  const other = `
  - { name: Other, prompt: Greeting, version: v1, examples: [{ variables: { name: x }, expect: {} }] }`;
  write(greeting('- { name: none, variables: {}, expect: {} }') + other.slice(1));
  const junit = join(folder, 'report.xml');
  service.models.script(async () => {
    throw new ModelFailure('CONTENT_FILTERED', 'Not <this>\u0007 & "that".');
  });
  const both = await run('test', file, '--junit', junit);
  assert.equal(both.code, 2);
  assert.match(both.stdout, /^ {2}Required variables are missing: name\. \(MISSING_VARIABLES\)$/m);
  assert.match(both.stdout, /^ {2}The execution is failed: .*CONTENT_FILTERED/m);
  assert.match(both.stdout, /\n\n1 failed, 1 could not be run\.\n$/);
  const report = readFileSync(junit, 'utf8');
  assert.match(
    report,
    /<testsuites name="cueline" tests="2" failures="1" errors="1" time="[\d.]+">/,
  );
  assert.match(report, /<testcase classname="Greeter" name="none" file=".*cueline.yaml" line="11"/);
  assert.match(report, /<failure message="[^"]*Not &lt;this&gt;. &amp; &quot;that&quot;\./);

  service.models.script(async () => ({ text: 'fine' }));
  const one = await run('test', file, '--agent', 'Other');
  assert.equal(one.code, 0, one.stderr);
  assert.match(one.stdout, /^1 passed\.$/m);
});

test('an execution that takes too long fails, and an interrupt removes what the test created', async () => {
  write(greeting('- { variables: { name: Ada }, expect: {} }'));
  const late = service.models.hold();
  const failed = await run('test', file, '--timeout', '1');
  assert.equal(failed.code, 1, failed.stderr);
  assert.match(failed.stdout, /^ {2}The execution has not ended within 1 seconds\.$/m);
  const { signal } = await late.arrived;
  if (!signal.aborted) await once(signal, 'abort');

  write(
    greeting('- { variables: { name: A }, expect: {} }\n- { variables: { name: B }, expect: {} }'),
  );
  const held = [service.models.hold(), service.models.hold()];
  const running = spawnCommand(['test', file], { CUELINE_URL: service.url, CUELINE_KEY: key });
  const signals = await Promise.all(held.map(async ({ arrived }) => (await arrived).signal));
  running.interrupt();
  assert.equal((await running.ended).code, 130);
  const statuses = sql<{ status: string }>`
    select e.status from all_executions e where e.workspace_id = ${workspaceId} order by e.id desc limit 2`;
  const { rows } = await statuses.execute(service.db);
  assert.deepEqual(rows, Array(2).fill({ status: 'canceled' }));
  for (const one of signals) if (!one.aborted) await once(one, 'abort');
  assert.deepEqual((await get('/api/v1/agents')).agents, []);
});

test('what was created is removed although the response is lost', async (t) => {
  write(greeting('- { variables: { name: Ada }, expect: {} }'));
  let lost = 0;
  const proxy = createServer(async (request, response) => {
    const sent = Buffer.concat(await request.toArray());
    const { method, url, headers } = request;
    const init = { method, headers: headers as Record<string, string> };
    const answer = await fetch(service.url + url, sent.length > 0 ? { ...init, body: sent } : init);
    const body = await answer.text();
    if (url === '/api/v1/declaration' && sent.includes('"dryRun":false')) {
      lost++;
      assert.equal(answer.status, 200, body);
      response.destroy();
    } else {
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    }
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const { code, stderr } = await cueline(['test', file], { CUELINE_URL: url, CUELINE_KEY: key });
  assert.equal(code, 2, stderr);
  assert.ok(lost > 0);
  assert.doesNotMatch(stderr, /Not removed/);
  assert.deepEqual((await get('/api/v1/agents')).agents, []);
  assert.deepEqual((await get('/api/v1/prompts')).prompts, []);
});

test('wrong files, keys and usage exit with 2 and say what is wrong', async () => {
  write(
    greeting(`
- { name: odd, variables: {}, expect: { eqals: x } }
- variables: {}
  expect:
    cel: 'record.outputText =='
- { variables: [], expect: { matchesSchema: { type: nothing } } }`),
  );
  for (const command of ['test', 'diff', 'apply']) {
    const { code, stdout, stderr } = await run(command, file);
    assert.deepEqual([code, stdout], [command === 'test' ? 2 : 1, '']);
    const lines = stderr.split('\n');
    assert.equal(
      lines[0],
      `${file}:11: Unknown field "examples.0.expect.eqals". Allowed: equals, contains, matchesSchema, cel.`,
    );
    assert.match(lines[1] ?? '', /:15: Field "examples\.2\.variables" must be an object\.$/);
    assert.match(lines[2] ?? '', /^cueline: .* has examples that are not valid \(2\)\.$/);
  }
  write(
    greeting(`
- variables: {}
  expect:
    cel: 'record.outputText =='
- { variables: {}, expect: { matchesSchema: { type: nothing } } }
- { variables: {}, expect: { cel: '1 + 1' } }`),
  );
  const semantic = await run('test', file);
  assert.equal(semantic.code, 2);
  assert.match(semantic.stderr, /:13: "cel" is not valid: Unexpected token/);
  assert.match(semantic.stderr, /:14: "matchesSchema" is not a valid JSON schema.*type/);
  assert.match(semantic.stderr, /:15: "cel" is not valid: It returns int, not bool\./);

  write(greeting('- { variables: { name: x }, expect: {} }'));
  const cases: [string[], RegExp][] = [
    [['--agent', 'Nobody'], /has no agent "Nobody" with examples/],
    [['--pinned'], /has no agent "Greeter" yet: apply the file/],
    [['--nonsense'], /unknown option '--nonsense'/],
    [['--concurrency', 'x'], /Expected a whole number/],
    [['--key', 'cue_wrong'], /UNAUTHORIZED/],
    [['--junit', folder], /Cannot write/],
  ];
  for (const [args, message] of cases) {
    const { code, stderr } = await run('test', file, ...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, message);
  }
  write(
    greeting('- { variables: { name: x }, expect: {} }').replace(
      /^ {4}version: v1$/m,
      '    version: v9',
    ),
  );
  const refused = await run('test', file);
  assert.deepEqual([refused.code, refused.stdout], [2, '']);
  assert.match(refused.stderr, /has no version "v9"/);
  write('agents: []');
  assert.match((await run('test', file)).stderr, /has no agent with examples/);
  assert.equal((await run('test', '--help')).code, 0);
});

test('pull keeps the examples of the file that it replaces', async () => {
  write(greeting('- { name: kept, variables: { name: 1.50 }, expect: { contains: x } }'));
  await run('apply', file);
  assert.equal((await run('pull', file)).code, 0);
  const examples = /^ {4}examples:\n {6}- name: kept\n {8}variables:\n {10}name: 1\.5\n/m;
  const written = readFileSync(file, 'utf8');
  assert.match(written, examples);
  assert.equal((await run('diff', file, '--exit-code')).stdout, 'No changes.\n');
  write(written.replaceAll('Greeter', 'Gone'));
  const refused = await run('pull', file);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /examples of "Gone", an agent that is not in the workspace/);
  assert.match(readFileSync(file, 'utf8'), /Gone/);
});
