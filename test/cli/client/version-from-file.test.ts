import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../harness/prompts.ts';
import { startService } from '../../../harness/service.ts';
import { cueline, jsonLines } from '../cueline.ts';

const service = await startService();
after(service.close);

test('add-version reads messages, tools and settings from a JSON file', async () => {
  const { key } = await service.key();
  const { promptId } = await makePrompt(service);
  const add = (input: string, ...more: string[]) =>
    cueline(
      ['prompts', 'add-version', promptId, ...more],
      { CUELINE_URL: service.url, CUELINE_KEY: key },
      input,
    );
  const version = {
    messages: [{ placeholder: 'history' }, { role: 'user', content: '{{a}}' }],
    ...{ tools: [{ name: 'weather' }], toolChoice: 'auto', seed: 7, model: 'x/y' },
  };
  const given = ['--from-file', '-', '--model', 'cueline/echo', '--json'];
  const [made] = jsonLines(await add(JSON.stringify(version), ...given));
  assert.deepEqual(made.messages, version.messages);
  assert.deepEqual([made.tools, made.seed, made.model], [version.tools, 7, 'cueline/echo']);
  assert.match((await add('{', ...given)).stderr, /not valid JSON/);
  assert.match((await add('[]', ...given)).stderr, /JSON object/);
  assert.match((await add('', '--json')).stderr, /Give --user-file, or --from-file/);
});
