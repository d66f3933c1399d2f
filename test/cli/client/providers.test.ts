import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../../../harness/service.ts';
import { ModelFailure } from '../../../src/core/model/model-port.ts';
import { type CommandResult, cueline, jsonLines } from '../cueline.ts';

/** `cueline providers` as processes against the real service. */

let service: Service;
let key: string;
let directory: string;

before(async () => {
  service = await startService({
    testConnection: async (_, __, ___, model) => {
      if (model === null) throw new ModelFailure('PROVIDER_AUTH', 'The provider answered 401: no');
      return {
        request: { method: 'POST', url: 'https://h.example/v1/x', headers: {}, body: { model } },
        answer: { status: 200, headers: {}, body: { text: 'OK' } },
        ...{ latencyMs: 12, failure: null },
      };
    },
  });
  key = (await service.key()).key;
  directory = await mkdtemp(join(tmpdir(), 'providers-test-'));
});
after(async () => {
  await service.close();
  await rm(directory, { recursive: true });
});

function call(...args: string[]): Promise<CommandResult> {
  return cueline(args, { CUELINE_URL: service.url, CUELINE_KEY: key });
}

test('stores a provider from a file, lists, shows, tests and removes it', async () => {
  const file = join(directory, 'provider.json');
  const settings = { kind: 'openai', apiKey: 'sk-hidden', headers: { 'x-a': 'hidden' } };
  await writeFile(file, JSON.stringify(settings));
  const [put] = jsonLines(await call('providers', 'put', 'mine', file, '--json'));
  assert.deepEqual([put.name, put.headerNames], ['mine', ['x-a']]);
  const shown = await call('providers', 'show', 'mine');
  assert.match(shown.stdout, /^headerNames +x-a$/m);
  assert.doesNotMatch(shown.stdout, /hidden/);
  const listed = jsonLines(await call('providers', 'list', '--json'));
  assert.deepEqual(
    listed.map(({ name }) => name),
    ['mine'],
  );

  const failed = await call('providers', 'test', 'mine');
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /^code +PROVIDER_AUTH$/m);
  const tried = await call('providers', 'test', 'mine', '--model', 'gpt-x');
  assert.equal(tried.code, 0);
  assert.match(tried.stdout, /^latencyMs +12$/m);
  assert.match(tried.stdout, /"model": "gpt-x"/);
  const [json] = jsonLines(await call('providers', 'test', 'mine', '--model', 'gpt-x', '--json'));
  assert.deepEqual([json.ok, json.answer.body], [true, { text: 'OK' }]);

  await call('providers', 'delete', 'mine');
  assert.equal((await call('providers', 'show', 'mine')).code, 1);
});

test('a file that is not JSON is not quoted', async () => {
  const file = join(directory, 'broken.json');
  await writeFile(file, '{"apiKey": sk-hidden}');
  const { code, stderr } = await call('providers', 'put', 'mine', file);
  assert.equal(code, 1);
  assert.match(stderr, /is not valid JSON/);
  assert.doesNotMatch(stderr, /hidden/);
});
