import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { startService } from '../../harness/service.ts';
import { runShell } from '../../harness/shell.ts';

/** Runs the commands of docs/batches.md. */

const text = await readFile(join(import.meta.dirname, '../../docs/batches.md'), 'utf8');
const [, commands = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(text) ?? [];

const service = await startService();
after(service.close);

test('the commands upload a file, wait for its end and print its results', async () => {
  const { key } = await service.key();
  const { agentId } = await addAgent(service, { user: 'Explain {{topic}}.' });
  const cwd = await mkdtemp(join(tmpdir(), 'cueline-test-'));
  after(() => rm(cwd, { recursive: true }));
  const env = { CUELINE_URL: service.url, CUELINE_KEY: key, AGENT: agentId };
  const printed = await runShell(commands, env, cwd);
  const results = printed
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    results.map(({ id, status, outputText }) => [id, status, outputText]),
    [
      ['tides', 'success', 'Explain tides.'],
      ['moons', 'success', 'Explain moons.'],
    ],
  );
});
