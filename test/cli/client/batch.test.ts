import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { jsonLines, namedLines, unlimited } from '../../../harness/batches.ts';
import { startService } from '../../../harness/service.ts';
import { cueline } from '../cueline.ts';

/** `cueline batch run` as a process against the real service. */

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });
const folder = await mkdtemp(join(tmpdir(), 'cueline-test-'));
after(() => rm(folder, { recursive: true }));
const env = { CUELINE_URL: service.url, CUELINE_KEY: key };

async function run(name: string, lines: string, args: readonly string[]) {
  const file = join(folder, name);
  await writeFile(file, lines);
  return cueline(['batch', 'run', file, ...args], env);
}

test('prints the results of a file as JSON lines, and nothing else', async () => {
  const { agentId, path } = await addAgent(service);
  const { code, stdout, stderr } = await run('good.jsonl', jsonLines(namedLines(20)), [
    ...['--agent', agentId],
  ]);
  assert.deepEqual([code, stderr], [0, '']);
  const results = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    results.map(({ id, status, outputText }) => [id, status, outputText]),
    namedLines(20).map(({ id, variables: { name } }) => [id, 'success', `Hello ${name}`]),
  );
  const { body } = await service.call('GET', `${path}/batches`, { key });
  assert.equal(body.batches[0].fileName, 'good.jsonl');
});

test('fails if a line did not succeed, after it has printed the results', async () => {
  const { agentId } = await addAgent(service);
  const lines = `${jsonLines(namedLines(1))}{}\n`;
  const { code, stdout, stderr } = await run('bad.jsonl', lines, ['--agent', agentId]);
  assert.equal(code, 1);
  assert.equal(stdout.trimEnd().split('\n').length, 2);
  assert.match(stderr, /1 of 2 lines did not succeed/);
});

test('names what is wrong with the upload or the file', async () => {
  const { agentId } = await addAgent(service, { stage: 'Paused' });
  const paused = await run('one.jsonl', jsonLines(namedLines(1)), ['--agent', agentId]);
  assert.equal(paused.code, 1);
  assert.match(paused.stderr, /AGENT_NOT_ACTIVE/);
  const missing = await cueline(['batch', 'run', join(folder, 'no'), '--agent', agentId], env);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /Cannot read/);
});
