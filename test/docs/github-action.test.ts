import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, beforeEach, test } from 'node:test';
import { parse } from 'yaml';
import { inherited } from '../../harness/environment.ts';
import { startService } from '../../harness/service.ts';

/** Runs the shell steps of action.yml as GitHub does, against the real service and a fake of GitHub's API of comments. */

const root = join(import.meta.dirname, '../..');
const action = parse(readFileSync(join(root, 'action.yml'), 'utf8'));
const [setup, install, report] = action.runs.steps;

const service = await startService();
const folder = mkdtempSync(join(tmpdir(), 'cueline-action-'));
const { key } = await service.key();

interface Call {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly body: string;
}
const calls: Call[] = [];
const bot = { login: 'github-actions[bot]', type: 'Bot' };
let comments: { id: number; body: string; user: { login: string; type: string } | null }[] = [];
/** Of the token; the token of a job may not read it. */
let login: string | null = null;
let status = 200;
/** An answer that is no JSON; its text is in the error. */
let garbled = '';
const github = createServer(async (request, response) => {
  const { method, url, headers } = request;
  const sent = Buffer.concat(await request.toArray()).toString();
  const body = sent && JSON.parse(sent).body;
  if (url === '/user' && garbled !== '') {
    response.end(garbled);
    return;
  }
  if (url === '/user') {
    response.writeHead(login === null ? 403 : 200).end(JSON.stringify({ login }));
    return;
  }
  calls.push({ method, url, token: headers.authorization, body });
  const page = Number(new URL(`http://x${url}`).searchParams.get('page'));
  const found = method === 'GET' ? comments.slice((page - 1) * 100, page * 100) : {};
  response.writeHead(status).end(JSON.stringify(found));
}).listen(0, '127.0.0.1');
await once(github, 'listening');

after(async () => {
  rmSync(folder, { recursive: true });
  github.close();
  await service.close();
});
beforeEach(() => {
  calls.length = 0;
  comments = [];
  login = null;
  status = 200;
  garbled = '';
});

const event = join(folder, 'event.json');
const [summary, outputs] = [join(folder, 'summary'), join(folder, 'outputs')];

/** The step with `${{ inputs.x }}` replaced, as the runner does. */
async function runStep(inputs: Record<string, string>, pullRequest: object = { number: 7 }) {
  writeFileSync(event, JSON.stringify({ pull_request: pullRequest }));
  for (const path of [summary, outputs]) writeFileSync(path, '');
  const given = {
    url: service.url,
    key,
    file: 'cueline.yaml',
    pinned: 'false',
    junit: '',
    token: 't',
    ...inputs,
  };
  const env = Object.fromEntries(
    Object.entries<string>(report.env).map(([name, value]) => [
      name,
      value.replace(/\$\{\{ inputs\.(\w+) \}\}/, (_, input) => given[input as keyof typeof given]),
    ]),
  );
  const { port } = github.address() as AddressInfo;
  const result = await bash(report.run, {
    ...env,
    ...{ GITHUB_ACTION_PATH: root, GITHUB_REPOSITORY: 'acme/prompts', GITHUB_EVENT_PATH: event },
    ...{ GITHUB_STEP_SUMMARY: summary, GITHUB_OUTPUT: outputs },
    GITHUB_API_URL: `http://127.0.0.1:${port}`,
  });
  return {
    ...result,
    outputs: readFileSync(outputs, 'utf8'),
    summary: readFileSync(summary, 'utf8'),
  };
}

async function bash(script: string, env: Record<string, string>) {
  const path = [folder, join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const child = spawn('bash', ['-eo', 'pipefail', '-c', script], {
    ...{ cwd: folder, env: { ...inherited(path), ...env } },
  });
  const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, 'close');
  const [stdout, stderr] = await outputs;
  return { code, stdout, stderr };
}

const declared = (kind: string) => `
prompts:
  - { name: Greeting, versions: [{ label: v1, user: 'Hello \`\`\`{{name}}', model: cueline/echo }] }
agents:
  - name: Greeter
    prompt: Greeting
    version: v1
    stage: Deployed
    examples: [{ variables: { name: '@ada' }, expect: { contains: ${kind} } }]
`;
const comments7 = '/repos/acme/prompts/issues/7/comments';

test('the inputs and outputs are used, and nothing is installed but what commands need', async () => {
  assert.equal(setup.with['node-version'], 24);
  const named = new Set(JSON.stringify(report.env).match(/(?<=inputs\.)\w+/g));
  assert.deepEqual(named, new Set(Object.keys(action.inputs)));
  const npm = join(folder, 'npm');
  writeFileSync(npm, '#!/bin/sh\necho "$@"\n');
  chmodSync(npm, 0o755);
  const { stdout } = await bash(install.run, { GITHUB_ACTION_PATH: '/action' });
  assert.match(stdout, /^ci --prefix \/action --omit=dev --omit=optional --ignore-scripts /);
});

test('a pull request gets one comment, which later runs update', async () => {
  writeFileSync(join(folder, 'cueline.yaml'), declared('ada'));
  const first = await runStep({ junit: 'report.xml' });
  assert.equal(first.code, 0, first.stderr);
  assert.equal(first.outputs, 'diff-exit-code=2\ntest-exit-code=0\n');
  assert.deepEqual(
    calls.map(({ method, url, token }) => [method, url, token]),
    [
      ['GET', `${comments7}?per_page=100&page=1`, 'Bearer t'],
      ['POST', comments7, 'Bearer t'],
    ],
  );
  const body = calls[1]?.body ?? '';
  assert.equal(first.summary, `${body}\n`);
  assert.match(
    body,
    /^<!-- cueline cueline\.yaml [0-9a-f]{16} -->\n### `cueline\.yaml`: changes\n\n```\n\+ prompt Greeting\n/,
  );
  assert.match(body, /### Examples: all passed\n\n```\nagent /);
  assert.match(readFileSync(join(folder, 'report.xml'), 'utf8'), /tests="1" failures="0"/);

  writeFileSync(join(folder, 'cueline.yaml'), declared('bo'));
  comments = Array.from({ length: 100 }, (_, id) => ({ id, body: 'Nice.', user: bot }));
  comments.push({ id: 4711, body, user: bot });
  const second = await runStep({});
  assert.equal(second.code, 1);
  assert.equal(second.outputs, 'diff-exit-code=2\ntest-exit-code=1\n');
  const update = calls.at(-1);
  assert.deepEqual(
    [update?.method, update?.url],
    ['PATCH', '/repos/acme/prompts/issues/comments/4711'],
  );
  // What a model wrote does not end its block.
  assert.match(update?.body ?? '', /### Examples: failed\n\n````\n.*Hello ```@ada.*\n````\n$/s);
});

test('only a comment of the own user is updated, and only that of the same server and mode', async () => {
  writeFileSync(join(folder, 'cueline.yaml'), declared('ada'));
  await runStep({});
  const body = calls.at(-1)?.body ?? '';
  const stranger = { id: 1, body, user: { login: 'mallory', type: 'User' } };
  const own = { id: 3, body, user: { login: 'ci-user', type: 'User' } };
  const sent = async (inputs: Record<string, string> = {}) => {
    await runStep(inputs);
    return [calls.at(-1)?.method, calls.at(-1)?.url];
  };
  const patched = (id: number) => ['PATCH', `/repos/acme/prompts/issues/comments/${id}`];
  comments = [stranger, { ...stranger, user: null }];
  assert.deepEqual(await sent(), ['POST', comments7]);
  comments.push({ id: 2, body, user: bot }, own);
  assert.deepEqual(await sent(), patched(2));
  login = 'ci-user';
  assert.deepEqual(await sent(), patched(3));
  assert.deepEqual(await sent({ url: `${service.url}/` }), ['POST', comments7]);
  assert.deepEqual(await sent({ pinned: 'true' }), ['POST', comments7]);
});

test('what a model wrote is no command to the runner', async () => {
  const text = declared('bo').replace("'@ada'", '"\\n::set-output name=x::y\\n##[error]z"');
  writeFileSync(join(folder, 'cueline.yaml'), text);
  garbled = 'x\n::error::y';
  const { stdout } = await runStep({});
  assert.match(stdout, /set-output/);
  const [, token = ''] = /^::stop-commands::([0-9a-f-]{36})$/m.exec(stdout) ?? [];
  const outside = stdout.replace(
    new RegExp(`^::stop-commands::${token}\\n.*\\n::${token}::\\n`, 's'),
    '',
  );
  assert.match(outside, /^::warning::No comment: [^\n]*%0A::error::y[^\n]*\n$/);
  const again = await runStep({});
  assert.doesNotMatch(again.stdout, new RegExp(token));
});

test('errors fail the step, and a comment that is refused does not', async () => {
  writeFileSync(join(folder, 'cueline.yaml'), declared('ada'));
  status = 403;
  const fork = await runStep({});
  assert.equal(fork.code, 0, fork.stderr);
  assert.match(fork.stdout, /^::warning::No comment: GET .* returned 403\.$/m);

  status = 200;
  const broken = await runStep({ file: 'missing.yaml' });
  assert.equal(broken.code, 1);
  assert.match(
    broken.summary,
    /`missing\.yaml`: error\n.*Cannot read missing\.yaml.*Examples: could not be run/s,
  );
  calls.length = 0;
  const pushed = await runStep({ pinned: 'true' }, {});
  assert.equal(pushed.code, 2);
  assert.match(pushed.summary, /has no agent "Greeter" yet/);
  assert.deepEqual(calls, []);
  await runStep({ token: '' });
  assert.deepEqual(calls, []);
});
