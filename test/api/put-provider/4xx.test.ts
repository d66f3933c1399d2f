import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { testRefusals } from '../../../harness/refusals.ts';
import { startService } from '../../../harness/service.ts';
import { putProvider } from '../../../src/contract/workspace/providers.ts';

const service = await startService();
after(service.close);
const good = { kind: 'openai', apiKey: 'sk-x' };
const path = '/api/v1/providers/openai';

// Not in the path of unknown ids: a provider name is not an id, and any workspace may use any name.
testRefusals(service, { ...putProvider, path }, { path, body: good });

async function refused(options: object, status: number, code: string, at = path): Promise<string> {
  const user = service.ownerId;
  const all = async () => (await service.call('GET', '/api/v1/providers', { user })).body.providers;
  const before = await all();
  const response = await service.call('PUT', at, { body: good, ...options });
  assert.deepEqual([response.status, response.body.code], [status, code]);
  assert.deepEqual(await all(), before);
  return response.body.message;
}

function numbered(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'v']));
}

const wrong: [what: string, named: RegExp, body: object][] = [
  ['no kind', /"kind"/, { apiKey: 'sk-x' }],
  ['a kind that there is not', /openai, anthropic/, { kind: 'closedai' }],
  ['an empty credential', /"apiKey"/, { ...good, apiKey: '' }],
  ['a credential of null', /"apiKey"/, { ...good, apiKey: null }],
  ['a credential of 4,097 characters', /"apiKey"/, { ...good, apiKey: 'x'.repeat(4_097) }],
  ['a credential with a line break', /"apiKey"/, { ...good, apiKey: 'sk-x\n' }],
  ['a credential that no header takes', /"apiKey"/, { ...good, apiKey: 'schlüssel' }],
  ['azure without an address', /"baseURL".*azure/, { kind: 'azure', apiKey: 'k' }],
  [
    'a compatible one without an address',
    /"baseURL".*openai-compatible/,
    { kind: 'openai-compatible', baseURL: null },
  ],
  ['an address that is none', /"baseURL"/, { ...good, baseURL: 'llm.example.com' }],
  ['an address of another protocol', /"baseURL"/, { ...good, baseURL: 'file:///etc/passwd' }],
  [
    'an address of 2,001 characters',
    /"baseURL"/,
    { ...good, baseURL: `https://a.example/${'x'.repeat(1_983)}` },
  ],
  ['headers as a list', /"headers"/, { ...good, headers: ['a'] }],
  ['a header that is no text', /"headers.x-a"/, { ...good, headers: { 'x-a': 1 } }],
  ['a header without a value', /"headers.x-a"/, { ...good, headers: { 'x-a': '' } }],
  ['a header with a line break', /"headers.x-a"/, { ...good, headers: { 'x-a': 'b\r\nc: d' } }],
  ['a header that is not ASCII', /"headers.x-a"/, { ...good, headers: { 'x-a': 'ü' } }],
  [
    'a header of 4,097 characters',
    /"headers.x-a"/,
    { ...good, headers: { 'x-a': 'x'.repeat(4_097) } },
  ],
  ['a name that no header has', /"headers"/, { ...good, headers: { 'x a': 'b' } }],
  ['an empty name of a header', /"headers"/, { ...good, headers: { '': 'b' } }],
  [
    'a header twice',
    /"headers.X-A" occurs twice/,
    { ...good, headers: { 'x-a': 'b', 'X-A': 'c' } },
  ],
  ['51 headers', /"headers"/, { ...good, headers: numbered(51) }],
  ...[
    'Host',
    'content-length',
    'Content-Type',
    'Transfer-Encoding',
    'Connection',
    'Proxy-Authorization',
  ].map((name): [string, RegExp, object] => [
    `the header ${name}`,
    new RegExp(`"headers.${name}" is not allowed`),
    { ...good, headers: { [name]: 'x' } },
  ]),
  [
    'two credentials in one header',
    /"headers.authorization" conflicts with "apiKey"/,
    { ...good, headers: { Authorization: 'Basic x' } },
  ],
  [
    'two credentials in the header of Azure',
    /"headers.api-key" conflicts/,
    { ...good, kind: 'azure', baseURL: 'https://a.example', headers: { 'API-Key': 'x' } },
  ],
  ['a parameter that is no text', /"query.a"/, { ...good, query: { a: true } }],
  ['a parameter without a name', /"query"/, { ...good, query: { '': 'x' } }],
  ['51 parameters', /"query"/, { ...good, query: numbered(51) }],
  ['a list as bodyExtra', /"bodyExtra"/, { ...good, bodyExtra: [1] }],
  ['another model in bodyExtra', /"bodyExtra.model"/, { ...good, bodyExtra: { model: 'm' } }],
  ['another prompt in bodyExtra', /"bodyExtra.messages"/, { ...good, bodyExtra: { messages: [] } }],
  [
    'a bodyExtra of more than 16,384 characters',
    /"bodyExtra" must have at most 16384/,
    { ...good, bodyExtra: { a: 'x'.repeat(16_377) } },
  ],
  [
    'an organization of a kind without one',
    /"organization" does not apply to kind anthropic/,
    { ...good, kind: 'anthropic', organization: 'o' },
  ],
  ['a project with a line break', /"project"/, { ...good, project: 'a\nb' }],
];
for (const [what, named, body] of wrong) {
  test(`400 for ${what}`, async () => {
    const message = await refused({ user: service.ownerId, body }, 400, 'INVALID_REQUEST');
    assert.match(message, named);
  });
}

const inside = [
  'http://llm.example.com',
  'https://127.0.0.1',
  'https://localhost',
  'https://10.0.0.1/v1',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]',
  'https://[::ffff:127.0.0.1]',
  'https://2130706433',
  'https://0x7f.1',
  'https://metadata.google.internal',
  'http://127.0.0.1:9001',
  'https://user:password@llm.example.com',
];
for (const baseURL of inside) {
  test(`400 for the base URL ${baseURL}`, async () => {
    const body = { kind: 'openai-compatible', baseURL };
    await refused({ user: service.ownerId, body }, 400, 'INVALID_REQUEST');
  });
}

const names = ['cueline', 'Cueline', '-x', 'a%2Fb', 'a%20b', 'a%00b', '%C3%A4', 'x'.repeat(65)];
for (const name of names) {
  test(`400 for the name ${name}`, async () => {
    const at = `/api/v1/providers/${name}`;
    const message = await refused({ user: service.ownerId }, 400, 'INVALID_REQUEST', at);
    assert.match(message, /name/);
  });
}

test('403 for an editor, and for an owner’s key that is restricted to agents', async () => {
  await refused({ user: await service.member('editor') }, 403, 'PERMISSION_DENIED');
  const { agentId } = await addAgent(service);
  const { key } = await service.key({ agentIds: [agentId] });
  await refused({ key }, 403, 'PERMISSION_DENIED');
});
