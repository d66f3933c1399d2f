import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { schemaLine } from '../../../src/cli/client/declaration-command.ts';
import { readYaml, toYaml } from '../../../src/cli/client/yaml.ts';
import { cueline, jsonLines } from '../cueline.ts';

/** `cueline pull`, `diff` and `apply` as processes against the real service. */

const service = await startService();
const { key } = await service.key();
const folder = mkdtempSync(join(tmpdir(), 'cueline-declaration-'));
const file = join(folder, 'cueline.yaml');
after(async () => {
  rmSync(folder, { recursive: true });
  await service.close();
});

function call(...args: string[]) {
  return cueline(args, { CUELINE_URL: service.url, CUELINE_KEY: key });
}

const text = `
prompts:
  - name: Greeting
    versions:
      - label: v1
        user: |-
          Hello {{name}}.
          How are you?
        model: cueline/echo
agents:
  - { name: Greeter, prompt: Greeting, version: v1, stage: Deployed, defaultVariableValues: { name: 1.50 } }
workflows:
  - name: greet
    input: { required: [name] }
    steps:
      - { name: hello, agent: Greeter, variables: { name: '{{input.name}}' } }
`;

test('diff shows what apply changes, and applying the output of pull changes nothing', async () => {
  writeFileSync(file, text);
  const changes = [
    '+ prompt Greeting',
    '+ prompt Greeting: version v1',
    '+ agent Greeter',
    '~ agent Greeter: stage "Draft" → "Deployed"',
    '+ workflow greet',
    '',
  ].join('\n');
  const result = await call('diff', file);
  assert.deepEqual([result.code, result.stdout], [0, changes]);
  const done = await call('apply', file);
  assert.deepEqual([done.code, done.stdout], [0, changes]);
  assert.equal((await call('apply', file)).stdout, 'No changes.\n');

  const pulled = await call('pull', file);
  assert.deepEqual([pulled.code, pulled.stdout, pulled.stderr], [0, '', `Wrote ${file}.\n`]);
  const written = readFileSync(file, 'utf8');
  assert.match(written, /^prompts:\n/);
  assert.match(written, / {8}user: \|-\n {10}Hello \{\{name\}\}\.\n {10}How are you\?\n/);
  assert.equal((await call('diff', file)).stdout, 'No changes.\n');
  assert.equal((await call('pull', '-')).stdout, written);
});

test("a file refers to the schema only if it is below the file's folder", () => {
  const root = join(import.meta.dirname, '../../..');
  const line = '# yaml-language-server: $schema=./docs/cueline.schema.json\n';
  assert.equal(schemaLine(join(root, 'cueline.yaml')), line);
  assert.ok(existsSync(join(root, 'docs/cueline.schema.json')));
  for (const elsewhere of [file, join(root, 'seed/cueline.yaml'), '-']) {
    assert.equal(schemaLine(elsewhere), '');
  }
});

test('diff tells differences, none and errors by its exit code, and names what is not in the file', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const { key: other } = await service.key({ workspaceId, userId });
  const { key: reader } = await service.key({ workspaceId, userId, permissions: ['read'] });
  const as = (asKey: string, ...args: string[]) =>
    cueline(args, { CUELINE_URL: service.url, CUELINE_KEY: asKey });
  writeFileSync(file, text);
  assert.equal((await as(reader, 'diff', file, '--exit-code')).code, 2);
  assert.equal((await as(reader, 'diff', file)).code, 0);
  assert.match((await as(reader, 'apply', file)).stderr, /requires the permission "manage"/);
  await as(other, 'apply', file);
  const [{ promptId }] = (await service.call('GET', '/api/v1/prompts', { key: other })).body
    .prompts;
  const post = (path: string, body: object) => service.call('POST', path, { key: other, body });
  await post(`/api/v1/prompts/${promptId}/versions`, { label: 'v2', user: 'Hi {{name}}.' });
  await post('/api/v1/prompts', { name: 'Another' });
  for (let n = 0; n < 2; n++) await post('/api/v1/prompts', { name: 'Twin' });
  const same = await as(reader, 'diff', file, '--exit-code');
  assert.equal(same.code, 0, same.stderr);
  const beyond = [
    'No changes.',
    '? prompt Another is not in the file',
    '? prompt Twin is not in the file',
    '? prompt Greeting: version v2 is not in the file',
    '',
  ];
  assert.equal(same.stdout, beyond.join('\n'));
  const agentless = text.split('agents:')[0]?.replace('label: v1', 'label: v3');
  writeFileSync(file, agentless ?? '');
  const different = await as(reader, 'diff', file, '--exit-code', '--json');
  assert.deepEqual(
    [
      different.code,
      jsonLines(different).map(({ action, name, to, from }) => [action, name, to ?? from]),
    ],
    [
      2,
      [
        ['add-version', 'Greeting', 'v3'],
        ['none', 'Another', undefined],
        ['none', 'Twin', undefined],
        ['none', 'Greeter', undefined],
        ['none', 'greet', undefined],
        ['none', 'Greeting', 'v1'],
        ['none', 'Greeting', 'v2'],
      ],
    ],
  );
  writeFileSync(file, 'prompts: 5');
  for (const args of [
    [file, '--exit-code'],
    [file, '--nonsense'],
  ]) {
    assert.equal((await as(reader, 'diff', ...args)).code, 1);
  }
  assert.equal((await as(reader, 'pull', '-')).code, 0);
});

test('pull reports omitted resources in the file and on standard error', async () => {
  const body = { name: 'Several lines' };
  for (let n = 0; n < 2; n++) await service.call('POST', '/api/v1/prompts', { key, body });
  const line = 'Omitted prompt "Several lines". There are 2 prompts with this name.';
  const pulled = await call('pull', file);
  assert.deepEqual([pulled.code, pulled.stderr], [0, `${line}\nWrote ${file}.\n`]);
  assert.ok(readFileSync(file, 'utf8').startsWith(`# ${line}\nprompts:\n`));
  const beyond = '? prompt Several lines is not in the file\n';
  assert.equal((await call('diff', file)).stdout, `No changes.\n${beyond}`);
});

test('apply and diff warn of invalid placeholders', async () => {
  const versions = [{ label: 'v1', system: '{{user.name}}', user: '{{ok}} {{my-var}}' }];
  writeFileSync(file, JSON.stringify({ prompts: [{ name: 'Odd', versions }] }));
  for (const command of ['diff', 'apply']) {
    const { code, stdout, stderr } = await call(command, file);
    assert.equal(code, 0);
    assert.match(stdout, /^\+ prompt Odd\n\+ prompt Odd: version v1\n/);
    assert.match(stderr, /unchanged: \{\{user\.name\}\} \(system template of Odd, version v1\)/);
    assert.match(stderr, /unchanged: \{\{my-var\}\} \(user template of Odd, version v1\)/);
  }
});

test('a rejected declaration is reported and nothing is applied', async () => {
  writeFileSync(file, text.replace('Hello', 'Hi'));
  const refused = await call('apply', file);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^cueline: The prompt "Greeting": Version "v1" exists .*CONFLICT/);
  writeFileSync(file, 'prompts: [');
  assert.match((await call('diff', file)).stderr, /cueline\.yaml is not valid YAML: /);
  for (const [user, said] of [
    ['!important do it', /is not valid YAML: Unresolved tag: !important/],
    ['*bold', /is not valid YAML: Unresolved alias .*: bold/],
    ['&x [*x]', /is not valid YAML: Converting circular structure/],
  ] as const) {
    writeFileSync(file, `user: ${user}\n`);
    const { code, stdout, stderr } = await call('apply', file);
    assert.deepEqual([code, stdout], [1, ''], user);
    assert.match(stderr, said);
    assert.equal(stderr.split('\n').length, 2, stderr);
  }
  writeFileSync(file, '- 1');
  assert.match((await call('diff', file)).stderr, /must contain an object with prompts/);
  assert.match((await call('diff', join(folder, 'none'))).stderr, /Cannot read/);
});

test('pull sorts resources by name', async () => {
  const names = ['q', 'c', 'x', 'a', 'm', 'Z'].map((name) => `Order ${name}`);
  const versions = [{ label: 'v1', user: 'Hello.' }];
  const body = { declaration: { prompts: names.map((name) => ({ name, versions })) } };
  await service.call('POST', '/api/v1/declaration', { key, body });
  const { stdout } = await call('pull', '-');
  assert.deepEqual(stdout.match(/(?<=^ {2}- name: )Order .$/gm), names.toSorted());
});

test('pull reports a declaration that is too large to apply', async () => {
  const versions = [{ label: 'v1', user: 'x'.repeat(250_000) }];
  for (let n = 0; n < 5; n++) {
    const body = { declaration: { prompts: [{ name: `Long ${n}`, versions }] } };
    await service.call('POST', '/api/v1/declaration', { key, body });
  }
  const { code, stderr } = await call('pull', file);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^cueline: The declaration has 1\d{6} bytes, but one apply accepts 1048576/m,
  );
  assert.match(readFileSync(file, 'utf8'), /name: Long 4/);
  assert.match((await call('diff', file)).stderr, /BODY_TOO_LARGE/);
});

test('only numbers that cannot be stored exactly are rejected', () => {
  const changed = [
    ...['9007199254740993', '3.14159265358979323846', '1e400', '0xFFFFFFFFFFFFFFFFF1'],
    ...['.inf', '-.inf', '.nan', '+12345678901234567890', '{ 9007199254740993: x }'],
  ];
  for (const number of changed) {
    assert.throws(
      () => readYaml(`a: ${number}`, 'f.yaml').value,
      /^CommandFailure: f\.yaml: The number /,
    );
  }
  const kept = ['1.50', '0.1', '.5', '5.', '+7', '007', '1e21', '0x1F', '0o17', '-0.0000001'];
  const long = ['9007199254740991', '3.141592653589793', '0xFFFFFFFFFF000000', '1234567890123456.'];
  for (const number of [...kept, ...long]) {
    assert.deepEqual(readYaml(`a: ${number}`, 'f.yaml').value, { a: Number(number) });
  }
  const texts = ['"9007199254740993"', '1:30', 'x9007199254740993'];
  for (const text of texts) {
    assert.equal(typeof (readYaml(`a: ${text}`, 'f.yaml').value as { a: unknown }).a, 'string');
  }
});

test('every string survives the conversion to YAML, including blank ones', () => {
  const texts = ['', ' ', '\n', ' \n', '\n \n', '\t\n', '\n\n  ', ' a\n', 'a\r\nb', 'a\n \n'];
  for (const text of texts) {
    const value = { [text]: text, list: [text, { text }] };
    assert.deepEqual(readYaml(toYaml(value), 'f.yaml').value, value);
  }
});
