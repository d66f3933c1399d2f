import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { inlineCompute } from '../../../../harness/inline-compute.ts';
import { startReceiver, toReceivers } from '../../../../harness/receiver.ts';
import { startService } from '../../../../harness/service.ts';
import { refundTool } from '../../../../harness/tool-server.ts';
import type { Compute } from '../../../../src/core/compute.ts';
import { requireAllowedServers } from '../../../../src/features/declaration/verbs/plan-tool-server.ts';
import { findSessionCaller } from '../../../../src/features/people/statements/callers.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const { key } = await service.key();

const server = { name: 'crm', kind: 'http', url: receiver.url, tools: [refundTool] };
const tool = { server: 'crm', tool: 'refund', approval: 'never' };
const version = { label: 'v1', user: 'Hi', model: 'cueline/echo', tools: [tool] };
const declaration = {
  toolServers: [{ ...server, headers: { Authorization: 'Bearer s3cr3t-token' } }],
  prompts: [{ name: 'Refunds', versions: [version] }],
  agents: [{ name: 'Refunder', prompt: 'Refunds', version: 'v1' }],
};

const apply = (given: object, dryRun = false, as = key) =>
  service.call('POST', '/api/v1/declaration', { key: as, body: { declaration: given, dryRun } });
const changesOf = async (given: object, dryRun = false) => {
  const { body } = await apply(given, dryRun);
  assert.ok(body.changes, body.message);
  return body.changes;
};

test('servers are created before the versions that name them, and applying again changes nothing', async () => {
  const created = [
    { kind: 'toolServer', name: 'crm', action: 'create' },
    { kind: 'prompt', name: 'Refunds', action: 'create' },
    { kind: 'prompt', name: 'Refunds', action: 'add-version', to: 'v1' },
    { kind: 'agent', name: 'Refunder', action: 'create' },
  ];
  assert.deepEqual(await changesOf(declaration, true), created);
  assert.deepEqual(await changesOf(declaration), created);
  assert.deepEqual(await changesOf(declaration), []);
  const { body: list } = await service.call('GET', '/api/v1/tool-servers', { key });
  assert.deepEqual(list.toolServers[0].headerNames, ['Authorization']);
});

test('what is read can be applied and has no secret', async () => {
  const { body } = await service.call('GET', '/api/v1/declaration', { key });
  assert.deepEqual(body.declaration.toolServers, [server]);
  assert.deepEqual(body.declaration.prompts[0].versions[0].tools, [tool]);
  assert.ok(!JSON.stringify(body).includes('s3cr3t'));
  assert.deepEqual(await changesOf(body.declaration), []);
});

test('a change is listed without the values of headers', async () => {
  const other = {
    ...server,
    enabled: false,
    timeoutMs: 5_000,
    headers: { Authorization: 'new-token' },
  };
  const tools = [{ ...refundTool, description: 'Other.' }];
  const changes = await changesOf({ toolServers: [{ ...other, tools }] });
  assert.deepEqual(
    changes.map(({ field, to }: { field: string; to: unknown }) => [field, to]),
    [
      ['timeoutMs', 5_000],
      ['enabled', false],
      ['tools', ['refund']],
      ['headers', ['Authorization']],
    ],
  );
  assert.deepEqual(await changesOf({ toolServers: [{ ...other, tools }] }), []);
  // The version keeps what it froze, and is the same as declared.
  assert.deepEqual(await changesOf({ prompts: declaration.prompts }), []);
});

test('a version whose declared tools differ is another version', async () => {
  const differs = { ...version, tools: [{ ...tool, resultLimit: 2_048 }] };
  const { body } = await apply({ prompts: [{ name: 'Refunds', versions: [differs] }] });
  assert.match(body.message, /exists with another tools/);
  const same = {
    ...version,
    tools: [{ ...tool, name: 'refund', safe: false, resultLimit: 16_384 }],
  };
  assert.deepEqual(await changesOf({ prompts: [{ name: 'Refunds', versions: [same] }] }), []);
});

const misspelt = { type: 'object', properties: { a: { type: 'strng' } } };

test('what is wrong is found by a dry run, and names the thing', async () => {
  const next = { ...version, label: 'v2' };
  const cases: [object, RegExp][] = [
    [{ toolServers: [{ ...server, url: 'https://10.0.0.1/' }] }, /tool server "crm": Field "url"/],
    [
      { toolServers: [{ ...server, kind: 'mcp', name: 'm' }] },
      /tool server "m": .*not supported yet/,
    ],
    [
      { toolServers: [{ ...server, tools: [{ ...refundTool, inputSchema: misspelt }] }] },
      /^The tool server "crm": Field "tools.0.inputSchema" .* at \/properties\/a\/type: /,
    ],
    [
      {
        prompts: [
          {
            name: 'P',
            versions: [{ ...next, tools: [{ name: 'own', parameters: misspelt }] }],
          },
        ],
      },
      /prompt "P": Field "tools.0.parameters" .* at \/properties\/a\/type: /,
    ],
    [{ toolServers: [server, server] }, /tool server "crm" is declared twice/],
    [
      { prompts: [{ name: 'P', versions: [{ ...next, tools: [{ ...tool, server: 'none' }] }] }] },
      /prompt "P": .*no tool server "none"/,
    ],
    [
      {
        toolServers: [{ ...server, name: 'new', tools: [] }],
        prompts: [{ name: 'P', versions: [{ ...next, tools: [{ ...tool, server: 'new' }] }] }],
      },
      /prompt "P": The tool server "new" has no tool "refund"/,
    ],
  ];
  for (const [given, message] of cases) {
    const refused = await apply(given, true);
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, message);
  }
});

test('only owners declare and see tool servers', async () => {
  const { key: managing } = await service.key({ permissions: ['manage'] });
  const refused = await apply({ toolServers: [server] }, true, managing);
  assert.deepEqual([refused.status, refused.body.code], [403, 'PERMISSION_DENIED']);
  const wrong = { ...server, tools: [{ ...refundTool, inputSchema: misspelt }] };
  // Before its schemas are checked.
  assert.equal((await apply({ toolServers: [wrong] }, true, managing)).status, 403);
  const { body } = await service.call('GET', '/api/v1/declaration', { key: managing });
  assert.equal(body.declaration.toolServers, undefined);
  assert.deepEqual(
    (await apply({ prompts: declaration.prompts }, false, managing)).body.changes,
    [],
  );
});

test('the schemas of tools are checked only if they differ from those that are stored', async () => {
  const caller = await findSessionCaller(service.db, service.ownerId, null);
  if (!caller) throw new Error('the owner does not exist');
  const checked: unknown[] = [];
  const compute: Compute = {
    run(workspaceId, job, input) {
      checked.push(input);
      return inlineCompute.run(workspaceId, job, input);
    },
  };
  const deps = { db: service.db, compute, checkToolServerURL: async () => null };
  const stored = { ...server, kind: 'http', name: 'checked' } as const;
  await changesOf({ toolServers: [stored] });
  await requireAllowedServers(deps, caller, [stored]);
  assert.deepEqual(checked, []);
  const tools = [{ ...refundTool, description: 'Other.' }];
  await requireAllowedServers(deps, caller, [{ ...stored, tools }]);
  assert.deepEqual(checked, [JSON.stringify(refundTool.inputSchema)]);
});
