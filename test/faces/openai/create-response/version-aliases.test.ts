import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';

/** Who called a prompt of OpenAI by its identifier and version changes the address and the key only. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const id = 'pmpt_68a1f0c2b7d48190a4c0ffee';
const texts = ['First: {{q}}', 'Second: {{q}}', 'Third: {{q}}'];
const prompt = await makePrompt(service, ...texts.map((user) => ({ user })));
const [firstId = '', , thirdId = ''] = prompt.versionIds;
const agent = await makeAgent(service, prompt, {
  ...{ aliases: [id], promptVersionId: thirdId },
  versionAliases: { 1: 'v3', 2: 'v1', 40: 'v3' },
});
await move(service, agent, 'enable-api', 'deploy');

const call = (version?: string) =>
  service.call('POST', '/v1/responses', {
    key,
    body: { prompt: { id, variables: { q: 'x' }, ...(version !== undefined && { version }) } },
  });

test('a number with an alias means the version with that label, if it is pinned', async () => {
  for (const version of ['1', '40', '3', 'v3', thirdId, undefined]) {
    const { status, body } = await call(version);
    assert.deepEqual([status, body.output?.[0]?.content[0].text], [200, 'Third: x'], `${version}`);
    assert.deepEqual(body.prompt, { id, version: version ?? null, variables: { q: 'x' } });
  }
});

test('another version is refused, also by the number that it has here', async () => {
  for (const version of ['2', 'v1', 'v2', '4', '01', firstId, 'constructor']) {
    const { status, body } = await call(version);
    assert.equal(status, 400, version);
    const { code, param, message } = body.error;
    assert.deepEqual([code, param], ['invalid_value', 'prompt.version']);
    assert.match(message, /^The agent pins the version "v3" of its prompt/);
  }
});

test('an alias hides the number that the pinned version has here', async () => {
  const patch = (body: object) => service.call('PATCH', agent.path, { key, body });
  await patch({ versionAliases: { 3: 'v1' } });
  assert.equal((await call('3')).status, 400);
  assert.equal((await call('v3')).status, 200);
  await patch({ promptVersionId: firstId });
  const { status, body } = await call('3');
  assert.deepEqual([status, body.output[0].content[0].text], [200, 'First: x']);
});
