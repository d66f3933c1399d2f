import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inherited } from '../../harness/environment.ts';
import { startFakeProvider } from '../../harness/fake-provider.ts';
import { freePort } from '../../harness/free-port.ts';
import { runShell } from '../../harness/shell.ts';

/** Runs every command of docs/start.md, and those that the first start prints, against a program that was just started. */

const root = join(import.meta.dirname, '../..');
const text = await readFile(join(root, 'docs/start.md'), 'utf8');
const blocks = [...text.matchAll(/^```sh ?(\w*)\n([\s\S]*?)^```$/gm)].map(
  ([, name = '', commands = '']) => ({ name, commands }),
);

/** Programs that run until the end of the test. Their ports and data are of the test alone. */
async function startClone(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'cueline-start-'));
  t.after(() => rm(folder, { recursive: true, maxRetries: 10, retryDelay: 100 }));
  const main = join(root, 'src/main.ts');
  const scripts = { cueline: `exec ${process.execPath} ${main}` };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts }));
  const [port, receiverPort] = [await freePort(), await freePort()];
  const env = {
    ...inherited(`${join(root, 'node_modules/.bin')}:${process.env.PATH}`),
    ...{ PORT: String(port), CUELINE_DATA_DIR: join(folder, 'data') },
  };
  const own = (commands: string) =>
    commands.replaceAll(':4000', `:${port}`).replaceAll(/\b3000\b/g, String(receiverPort));
  /** Starts a command; `said` resolves with the match once its output contains it. */
  const start = (command: string, more: Record<string, string> = {}) => {
    const child = spawn('sh', ['-c', `exec ${own(command)}`], {
      ...{ cwd: folder, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    const output = { text: '' };
    const ended = once(child, 'close');
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output.text += chunk;
      });
    }
    const stop = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    const said = async (what: RegExp) => {
      for (;;) {
        const match = what.exec(output.text);
        if (match) return match;
        assert.equal(child.exitCode, null, output.text);
        await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended]);
      }
    };
    return { output, said, stop };
  };
  const run = (commands: string, more: Record<string, string> = {}) =>
    runShell(own(commands), { ...env, ...more }, folder);
  return { main, start, run };
}

test('the first start and the guide lead to an agent of a real model', {
  skip: spawnSync('curl', ['--version']).status !== 0 && 'curl is not installed',
}, async (t) => {
  const provider = await startFakeProvider();
  t.after(provider.close);
  const { main, start, run } = await startClone(t);
  const server = start(`${process.execPath} ${main} start`, {
    ...{ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: provider.url },
  });
  t.after(server.stop);
  await server.said(/End +Ctrl-C/);

  const printed = [...server.output.text.matchAll(/^ {2}curl (?:.*\\\n)*.*$/gm)].map(
    ([command]) => command,
  );
  const [echo = '', real = '', read = '', tool = ''] = printed;
  assert.equal(JSON.parse(await run(echo)).agentName, 'Explainer');
  assert.equal(provider.calls.length, 0);
  provider.script({ text: 'They follow the moon.' });
  assert.match(await run(real), /^event: end\n(?:id: .*\n)?data: .*They follow the moon\./m);
  assert.equal(provider.calls[0]?.model, 'gpt-5.4-mini');
  const [record] = JSON.parse(await run(read)).executions;
  assert.deepEqual([record.agentName, record.modelUsed], ['Real explainer', 'openai/gpt-5.4-mini']);
  assert.equal(JSON.parse(await run(tool)).agentName, 'Tool user');

  const [keys = '', file = '', app = '', wait = ''] = blocks.flatMap(({ name, commands }) =>
    name ? [] : [commands],
  );
  const named = (wanted: string) => blocks.find(({ name }) => name === wanted)?.commands ?? '';
  const [, CUELINE_URL = '', CUELINE_KEY = ''] =
    /^(\S+)\n(\S+)\n$/.exec(await run(`${keys}\necho $CUELINE_URL; echo $CUELINE_KEY`)) ?? [];
  const env = { CUELINE_URL, CUELINE_KEY };
  const applied = await run(file, env);
  assert.match(applied, /^Ticket sorter +charged twice +passed/m);
  assert.match(applied, /^\+ agent Ticket sorter$.*^\? agent Explainer is not in the file$/ms);
  const receiver = start(named('receiver'));
  t.after(receiver.stop);
  const listening = start(named('listen'), env);
  t.after(listening.stop);
  await listening.said(/whsec_/);
  const [, accepted = '', APP_KEY = ''] =
    /^(.*)\n(\S+)\n$/.exec(await run(`${app}\necho; echo $APP_KEY`, env)) ?? [];
  const { executionId } = JSON.parse(accepted);
  await receiver.said(new RegExp(`"execution.succeeded".*${executionId}`));
  const answer = '{"kind": "billing", "summary": "I was charged twice."}\n';
  assert.equal(await run(wait, { ...env, APP_KEY }), answer);

  const sorted = { kind: 'billing', summary: 'Charged twice.' };
  for (let n = 0; n < 2; n++) provider.script({ text: JSON.stringify(sorted) });
  const changed = await run(named('real'), env);
  assert.match(
    changed,
    /^Ticket sorter +charged twice +passed.*^~ agent Ticket sorter: version "stub" → "v1"$/ms,
  );
  assert.match(changed, / v1 .*\n.* stub /);
  assert.deepEqual(JSON.parse(await run(wait, { ...env, APP_KEY })), sorted);
});

test('without the key of a provider there are two demo agents, and the documents have them as code', async (t) => {
  const { main, start, run } = await startClone(t);
  const server = start(`${process.execPath} ${main} start`);
  t.after(server.stop);
  await server.said(/End +Ctrl-C/);
  await server.said(/calls a tool\. Its record/);
  const { text } = server.output;
  assert.equal(text.match(/^ {2}Agent +agt_\w+(?= |$)/gm)?.length, 2, text);
  assert.match(text, /Execute the demo agent and read its record:/);

  const url = /^ {2}API +(\S+)$/m.exec(text)?.[1] ?? '';
  const printed = { CUELINE_URL: url, CUELINE_KEY: /cue_\w+/.exec(text)?.[0] ?? '' };
  const tools = await readFile(join(root, 'docs/tools.md'), 'utf8');
  const [, commands = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(tools) ?? [];
  const shown = await run(commands, printed);
  assert.match(shown, /^Let the tool repeat "Hello"\.$/m);
  const rows = shown.split('\n').filter((line) => /^\d/.test(line));
  assert.deepEqual(
    rows.map((row) => row.split(/ +/).filter((cell) => !/^\d{4}-/.test(cell))),
    [
      ['1', 'model', '-', 'done', '-', '-'],
      ['1', 'tool', 'repeat', 'done', '1', '{"text":"Hello"}'],
      ['2', 'model', '-', 'done', '-', '-'],
    ],
  );
  const [, demo = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(tools) ?? [];
  const [keys = ''] = blocks.flatMap(({ name, commands }) => (name ? [] : [commands]));
  const diff = (file: string) =>
    run(`${keys}\nnpm run -s cueline -- diff --exit-code - <<'END'\n${file}END`);
  assert.match(await diff(demo), /^\? agent Explainer is not in the file$/m);
  const explainer = await readFile(join(root, 'docs/demo.yaml'), 'utf8');
  assert.match(await diff(explainer), /^\? agent Tool user is not in the file$/m);
});
