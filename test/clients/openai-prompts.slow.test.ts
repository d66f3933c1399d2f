import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runClient, runPython, skipWithout, skipWithoutPython } from '../../harness/clients.ts';
import { deployed } from '../../harness/openai-agents.ts';
import { startService } from '../../harness/service.ts';

/** Programs that call a prompt of OpenAI by its identifier run unchanged: the base URL and the key come from the environment. */

const service = await startService();
after(service.close);
const { key } = await service.key({ permissions: ['execute'] });
const env = { OPENAI_BASE_URL: `${service.url}/v1`, OPENAI_API_KEY: key };
await deployed(
  service,
  { label: 'v3', user: 'The weather in {{city}}, {{tone}}.' },
  {
    ...{ agentName: 'Weather', aliases: ['pmpt_68a1f0c2b7d48190a4c0ffee'] },
    versionAliases: { 7: 'v3' },
  },
);

const expected = {
  ...{ text: 'The weather in Rome, dry.', version: '7', streamed: 'The weather in Rome, dry.' },
  errors: [
    { status: 400, code: 'invalid_value', param: 'prompt.version' },
    { status: 404, code: 'model_not_found', param: 'model' },
  ],
};

test('the package openai for Node', { skip: skipWithout('openai') }, async () => {
  const { code, stdout, stderr } = await runClient('openai-prompt.mjs', [], env);
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), expected);
});

test('the package openai for Python', { skip: skipWithoutPython() }, async () => {
  assert.deepEqual(JSON.parse(await runPython('openai_prompt.py', env)), expected);
});
