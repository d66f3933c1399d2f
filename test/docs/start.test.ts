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
  const [echo = '', real = '', read = ''] = printed;
  assert.equal(JSON.parse(await run(echo)).agentName, 'Explainer');
  assert.equal(provider.calls.length, 0);
  provider.script({ text: 'They follow the moon.' });
  assert.match(await run(real), /^event: end\n(?:id: .*\n)?data: .*They follow the moon\./m);
  assert.equal(provider.calls[0]?.model, 'gpt-5.4-mini');
  const [record] = JSON.parse(await run(read)).executions;
  assert.deepEqual([record.agentName, record.modelUsed], ['Real explainer', 'openai/gpt-5.4-mini']);

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

test('without the key of a provider there is one demo agent', async (t) => {
  const { main, start } = await startClone(t);
  const server = start(`${process.execPath} ${main} start`);
  t.after(server.stop);
  await server.said(/End +Ctrl-C/);
  await server.said(/executions\?limit=1/);
  assert.equal(server.output.text.match(/agt_\w+(?= |\n)/g)?.length, 1, server.output.text);
  assert.match(server.output.text, /Execute the demo agent and read its record:/);
});
