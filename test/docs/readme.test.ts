import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { startService } from '../../harness/service.ts';
import { runShell } from '../../harness/shell.ts';

/** Runs the loop of the README. */

const text = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const [, loop = ''] = /^## The loop\n+```sh\n(.*?)^```$/ms.exec(text) ?? [];
const [set = '', execute = '', read = '', follow = '', list = ''] = loop.split('\n\n');

const service = await startService();
after(service.close);
const { key } = await service.key();
const { agentId } = await addAgent(service, { user: 'Explain {{topic}}.' });
const env = { CUELINE_URL: service.url, CUELINE_KEY: key, AGENT: agentId };

const sh = (command: string) => runShell(command, env);

test('the commands execute an agent, read its result, follow it and list the history', {
  skip: spawnSync('curl', ['--version']).status !== 0 && 'curl is not installed',
}, async () => {
  assert.deepEqual(
    [...set.matchAll(/\b([A-Z_]+)=/g)].map(([, name]) => name),
    Object.keys(env),
  );
  const { executionId } = JSON.parse(await sh(execute));
  const record = JSON.parse(await sh(read.replace('exe_…', executionId)));
  assert.deepEqual([record.status, record.outputText], ['success', 'Explain tides.']);
  assert.match(await sh(follow), /^event: text\n(?:id: .*\n)?data: .*Explain tides\./m);
  const { executions, pagination } = JSON.parse(await sh(list));
  assert.deepEqual([executions.length, pagination.total], [2, 2]);
  assert.equal(executions[1].executionId, executionId);
});
