import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../harness/prompts.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const prompt = await makePrompt(service, { user: '{{a}}' }, { user: '{{a}}', model: null });
const agent = await makeAgent(service, prompt, { optionalVariables: ['b'] });
const modelless = await makeAgent(
  service,
  { ...prompt, versionIds: prompt.versionIds.slice(1) },
  { agentConfig: { model: 'cueline/echo' } },
);

const wrong: [what: string, body: object, named: RegExp, of?: typeof agent][] = [
  ['a name of null', { agentName: null }, /"agentName"/],
  ['an empty name', { agentName: '' }, /"agentName"/],
  ['another prompt', { promptId: prompt.promptId }, /"promptId"/],
  ['a version of null', { promptVersionId: null }, /"promptVersionId"/],
  ['a stage', { status: 'Deployed' }, /"status"/],
  ['a switch as text', { apiEnabled: 'true' }, /"apiEnabled"/],
  ['lists of null', { requiredVariables: null }, /"requiredVariables"/],
  ['tags of null', { tags: null }, /"tags"/],
  ['far too many tags', { tags: Array(250_000).fill('a') }, /"tags" must not have more than 20/],
  ['a config of null', { agentConfig: null }, /"agentConfig"/],
  ['an unknown setting', { agentConfig: { thinking: 1 } }, /agentConfig\.thinking/],
  ['a temperature above 2', { agentConfig: { temperature: 3 } }, /temperature/],
  ['a default for no variable name', { defaultVariableValues: { '1a': 1 } }, /default/],
  ['half a request', { rateLimits: { requestsPerDay: 0.5 } }, /requestsPerDay/],
  ['a variable both required and optional', { requiredVariables: ['a', 'b'] }, /: b\./],
  ['a version without a model', { promptVersionId: prompt.versionIds[1] }, /model/],
  ['the last model gone', { agentConfig: { model: null } }, /model/, modelless],
];
for (const [what, body, named, of = agent] of wrong) {
  test(`400 for ${what}, and nothing changes`, async () => {
    const { key } = await service.key();
    const before = await service.call('GET', of.path, { key });
    const response = await service.call('PATCH', of.path, { key, body: { project: 'x', ...body } });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    assert.match(response.body.message, named);
    assert.deepEqual((await service.call('GET', of.path, { key })).body, before.body);
  });
}
