import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const named: string[] = [];
const service = await startService({ config: { chainWorkspaces: named } });
after(service.close);
named.push(toId('workspace', service.workspaceId));
const put = (body: object, user = service.ownerId) =>
  service.call('PUT', '/api/v1/providers/cloud', { user, body });

test("a workspace that the operator names may use the server's identity", async () => {
  for (const body of [
    { kind: 'bedrock' },
    { kind: 'bedrock', baseURL: 'https://bedrock-runtime.eu-west-1.amazonaws.com' },
    { kind: 'google', project: 'own-project' },
    { kind: 'azure', baseURL: 'https://own.openai.azure.com' },
  ]) {
    const response = await put({ ...body, auth: 'chain' });
    assert.deepEqual([response.status, response.body.auth], [200, 'chain']);
    assert.equal(response.body.hasApiKey, false);
  }
  assert.equal((await put({ kind: 'openai', apiKey: 'sk-1', auth: null })).body.auth, null);
});

test('any other workspace may not', async () => {
  const { ownerId } = await service.workspace();
  const { status, body } = await put({ kind: 'bedrock', auth: 'chain' }, ownerId);
  assert.deepEqual([status, body.code], [403, 'PERMISSION_DENIED']);
  assert.match(body.message, /CUELINE_CHAIN_WORKSPACES/);
});

const wrong: [what: string, body: object, message: RegExp][] = [
  ['another value', { kind: 'bedrock', auth: 'role' }, /"auth"/],
  ['a key as well', { kind: 'bedrock', apiKey: 'a:b' }, /"auth" and "apiKey"/],
  ['a kind without one', { kind: 'openai' }, /"auth" does not apply to kind openai/],
  [
    'a header',
    { kind: 'bedrock', headers: { Authorization: 'x' } },
    /"headers.Authorization"|"auth"/i,
  ],
  ['a foreign host', { kind: 'bedrock', baseURL: 'https://a.example' }, /"baseURL" must be one/],
  ['no project', { kind: 'google' }, /"project" must name/],
  ['a project that is a path', { kind: 'google', project: 'a/../../b' }, /"project" must name/],
];
for (const [what, body, message] of wrong) {
  test(`400 for ${what}`, async () => {
    const response = await put({ auth: 'chain', ...body });
    assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
    assert.match(response.body.message, message);
  });
}
