import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makePrompt } from '../../../harness/prompts.ts';
import { startService } from '../../../harness/service.ts';

const service = await startService();
after(service.close);
const prompt = await makePrompt(service, { user: 'Hi {{name}}' }, { user: 'x', model: null });
const pin = { promptId: prompt.promptId, promptVersionId: prompt.versionIds[0] };

const wrong: [what: string, input: object, named: RegExp][] = [
  ['no name', { agentName: undefined }, /"agentName"/],
  ['a name of blanks', { agentName: '  ' }, /"agentName"/],
  ['a name of 201 characters', { agentName: 'x'.repeat(201) }, /"agentName"/],
  ['no prompt', { promptId: undefined }, /"promptId"/],
  ['no version', { promptVersionId: undefined }, /"promptVersionId"/],
  ['an identifier that is no text', { promptId: 5 }, /"promptId"/],
  ['an unknown setting', { agentConfig: { model: 'a/b', thinking: 1 } }, /agentConfig\.thinking/],
  ['a setting of null', { agentConfig: { topP: null } }, /agentConfig\.topP/],
  ['no attempts', { agentConfig: { maxAttempts: 0 } }, /maxAttempts/],
  ['six attempts', { agentConfig: { maxAttempts: 6 } }, /maxAttempts/],
  ['a timeout below a second', { agentConfig: { timeoutMs: 999 } }, /timeoutMs/],
  ['a timeout above an hour', { agentConfig: { timeoutMs: 3_600_001 } }, /timeoutMs/],
  ['no run at once', { agentConfig: { maxConcurrency: 0 } }, /maxConcurrency/],
  ['a temperature above 2', { agentConfig: { temperature: 2.5 } }, /temperature/],
  ['no models', { agentConfig: { models: [] } }, /models/],
  ['the same model twice', { agentConfig: { models: ['a/b', 'a/b'] } }, /models/],
  ['model and models', { agentConfig: { model: 'a/b', models: ['a/b', 'a/c'] } }, /exclude/],
  [
    'a fallback after an authentication failure',
    { agentConfig: { fallbackOn: ['PROVIDER_AUTH'] } },
    /fallbackOn/,
  ],
  [
    'an attempt of less than a second',
    { agentConfig: { attemptTimeoutMs: 999 } },
    /attemptTimeoutMs/,
  ],
  ['a model without a provider', { agentConfig: { model: 'gpt' } }, /model/],
  ['a variable with a blank', { requiredVariables: ['a b'] }, /requiredVariables/],
  ['a variable named twice', { optionalVariables: ['a', 'a'] }, /optionalVariables/],
  ['a default for no variable name', { defaultVariableValues: { 'a-b': 1 } }, /defaultVariable/],
  ['defaults that are a list', { defaultVariableValues: [] }, /defaultVariableValues/],
  ['a visibility of its own', { visibility: 'team' }, /private, public/],
  ['a limit below nothing', { rateLimits: { requestsPerDay: -1 } }, /requestsPerDay/],
  ['a limit as text', { rateLimits: { requestsPerDay: '5' } }, /requestsPerDay/],
  ['a limit of another window', { rateLimits: { requestsPerWeek: 5 } }, /requestsPerWeek/],
  ['a tag twice', { tags: ['a', 'a'] }, /tags/],
  ['an empty tag', { tags: [''] }, /tags/],
  ['21 tags', { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, /tags/],
  ['an origin with a path', { allowedOrigins: ['https://a.example/x'] }, /allowedOrigins/],
  ['any origin', { allowedOrigins: ['*'] }, /"allowedOrigins.0" must be scheme:\/\/host or /],
  ['an origin no browser has', { allowedOrigins: ['https://a.example:443'] }, /allowedOrigins/],
  ['a stage', { status: 'Deployed' }, /"status"/],
  ['an API that is on', { apiEnabled: true }, /"apiEnabled"/],
  ['a NUL in a default', { defaultVariableValues: { a: ['\0'] } }, /NUL/],
  [
    'a variable that is required and optional',
    { requiredVariables: ['name', 'x'], optionalVariables: ['x'] },
    /: x\./,
  ],
  ['no model anywhere', { promptVersionId: prompt.versionIds[1] }, /"agentConfig\.model"/],
];
for (const [what, input, named] of wrong) {
  test(`400 for ${what}, and nothing is created`, async () => {
    const { key } = await service.key();
    const body = { agentName: 'A', ...pin, ...input };
    const response = await service.call('POST', '/api/v1/agents', { key, body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    assert.match(response.body.message, named);
    const { pagination } = (await service.call('GET', '/api/v1/agents', { key })).body;
    assert.equal(pagination.total, 0);
  });
}
