import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const good = { kind: 'openai', apiKey: 'sk-x' };
const path = '/api/v1/providers/openai';

/** The message of a refusal that stores nothing. */
async function refused(options: object, at = path): Promise<string> {
  const user = service.ownerId;
  const all = async () => (await service.call('GET', '/api/v1/providers', { user })).body.providers;
  const before = await all();
  const response = await service.call('PUT', at, { user, body: good, ...options });
  assert.deepEqual([response.status, response.body.code], [400, 'INVALID_REQUEST']);
  assert.deepEqual(await all(), before);
  return response.body.message;
}

const wrong: [what: string, named: RegExp, body: object][] = [
  ['a credential with a line break', /"apiKey"/, { ...good, apiKey: 'sk-x\n' }],
  ['azure without an address', /"baseURL".*azure/, { kind: 'azure', apiKey: 'k' }],
  ['an address that is none', /"baseURL"/, { ...good, baseURL: 'llm.example.com' }],
  ['a private address', /base URL/, { ...good, baseURL: 'https://10.0.0.1/v1' }],
  ['another port of an allowed host', /base URL/, { ...good, baseURL: 'http://127.0.0.1:9001' }],
  ['the header Host', /"headers.Host" is not allowed/, { ...good, headers: { Host: 'x' } }],
  [
    'an organization of a kind without one',
    /"organization" does not apply to kind anthropic/,
    { ...good, kind: 'anthropic', organization: 'o' },
  ],
  ['a project with a line break', /"project"/, { ...good, project: 'a\nb' }],
];
for (const [what, named, body] of wrong) {
  test(`400 for ${what}`, async () => assert.match(await refused({ body }), named));
}

test('400 for a reserved or malformed name', async () => {
  for (const name of ['Cueline', 'a%2Fb', 'a%00b']) {
    assert.match(await refused({}, `/api/v1/providers/${name}`), /name/);
  }
});
