import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { legacy, modern, modernRequest } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';
import { deployTool } from '../../../harness/tools.ts';

/** What clients send that the protocol does not provide for. */

const service = await startService();
after(service.close);
const { key } = await service.key();
await addAgent(service, { slug: 'greeter' });
const hello = { name: 'greeter', arguments: { name: 'Ada' } };

for (const accept of [null, '*/*', 'application/json', 'Application/JSON', 'text/html']) {
  test(`answers Accept: ${accept} with one JSON`, async () => {
    for (const [method, params] of [
      ['tools/list', {}],
      ['tools/call', { ...hello, _meta: { progressToken: 1 } }],
    ] as const) {
      const { message, headers } = modernRequest(method, params);
      const forms = [
        { message, headers },
        { message: { jsonrpc: '2.0', id: 1, method, params }, headers: {} },
      ];
      for (const form of forms) {
        const response = await fetch(`${service.url}/mcp`, {
          method: 'POST',
          headers: {
            ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            ...form.headers,
            // Without this header, fetch would send its own.
            accept: accept ?? '',
          },
          body: JSON.stringify(form.message),
        });
        assert.equal(response.status, 200);
        assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
        const { id, result } = (await response.json()) as { id: number; result: object };
        assert.equal(id, 1);
        assert.ok('tools' in result || 'content' in result, JSON.stringify(result));
      }
    }
  });
}

test('streams to a client that accepts streams in any case', async () => {
  const headers = { accept: 'APPLICATION/JSON, Text/Event-Stream' };
  for (const send of [modern, legacy]) {
    const params = { ...hello, _meta: { progressToken: 1 } };
    const called = await send(service, 'tools/call', params, { key, headers });
    assert.match(called.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.equal(called.body.result.content[0].text, 'Hello Ada');
  }
});

test('takes a slash at the end of its paths', async () => {
  for (const path of ['/mcp/', '/mcp/greeter/', '/mcp/?client=1']) {
    const called = await legacy(service, 'tools/call', hello, { key, path });
    assert.equal(called.body.result.content[0].text, 'Hello Ada');
  }
});

test('takes null, and an object as text, for the arguments', async () => {
  await addAgent(service, { slug: 'constant', user: 'Hello', requiredVariables: [] });
  for (const send of [modern, legacy]) {
    const none = { name: 'constant', arguments: null };
    const { body } = await send(service, 'tools/call', none, { key });
    assert.equal(body.result.content[0].text, 'Hello');
    const text = { name: 'greeter', arguments: '{"name": "Ada"}' };
    const called = await send(service, 'tools/call', text, { key });
    assert.equal(called.body.result.content[0].text, 'Hello Ada');
  }
});

test('names tools in at most 40 characters, and still knows the slug', async () => {
  const slugs = ['a', 'b'].map((end) => `${'long-'.repeat(12)}${end}`);
  for (const slug of slugs) await addAgent(service, { slug, user: `I am ${slug}` });
  const exact = 'x'.repeat(40);
  await addAgent(service, { slug: exact });
  const { body } = await modern(service, 'tools/list', {}, { key });
  const names: string[] = body.result.tools.map(({ name }: { name: string }) => name);
  assert.ok(names.includes(exact));
  const cut = names.filter((name) => name.startsWith('long-'));
  assert.equal(new Set(cut).size, 2);
  const called: string[] = [];
  for (const name of [...cut, ...slugs]) {
    assert.ok(slugs.includes(name) || (name.length <= 40 && /^[\w-]+$/.test(name)), name);
    const result = await modern(service, 'tools/call', { name, arguments: {} }, { key });
    called.push(result.body.result.content[0].text);
  }
  const texts = slugs.map((slug) => `I am ${slug}`);
  assert.deepEqual(called.slice(0, 2).sort(), texts);
  assert.deepEqual(called.slice(2), texts);
  const unknown = `${cut[0]?.slice(0, -1)}${cut[0]?.endsWith('0') ? '1' : '0'}`;
  const refused = await modern(service, 'tools/call', { name: unknown, arguments: {} }, { key });
  assert.match(refused.body.error.message, /^Unknown tool/);
});

test('pages through cut names', async () => {
  const names = new Set<string>();
  let cursor: string | undefined;
  do {
    const { body } = await modern(service, 'tools/list', { cursor }, { key });
    for (const { name } of body.result.tools) names.add(name);
    cursor = body.result.nextCursor;
  } while (cursor !== undefined);
  assert.equal([...names].filter((name) => name.startsWith('long-')).length, 2);
});

test('reads values that the client turned into text, where only their JSON matches', async () => {
  await deployTool(service, {
    agent: { agentName: 'Typed', slug: 'typed' },
    version: {
      user: '{{count}}|{{isNew}}|{{list}}|{{object}}|{{text}}|{{either}}',
      variableSchemas: {
        count: { type: 'number' },
        isNew: { type: 'boolean' },
        list: { type: 'array', items: { type: 'integer' } },
        object: { type: 'object', required: ['a'] },
        text: { type: 'string' },
        either: { type: ['string', 'number'] },
      },
    },
  });
  const typed = {
    ...{
      count: '1.50',
      isNew: 'true',
      list: '[1, 2]',
      object: '{"a": "b"}',
      text: '5',
      either: '6',
    },
  };
  for (const send of [modern, legacy]) {
    const { body } = await send(
      service,
      'tools/call',
      { name: 'typed', arguments: typed },
      { key },
    );
    assert.equal(body.result.content[0].text, '1.50|true|[1,2]|{"a":"b"}|5|6');
    for (const wrong of [
      { count: 'many' },
      { count: '"1"' },
      { list: '["a"]' },
      { object: 'null' },
    ]) {
      const args = { ...typed, ...wrong };
      const refused = await send(
        service,
        'tools/call',
        { name: 'typed', arguments: args },
        { key },
      );
      assert.equal(refused.body.result.isError, true);
      assert.match(refused.body.result.content[0].text, /does not match its schema/);
    }
  }
});

test('executes over HTTP take texts as they are', async () => {
  const { body } = await service.call('POST', '/api/v1/agents/typed/execute', {
    key,
    body: {
      variables: { count: '1', isNew: true, list: [], object: { a: 1 }, text: '', either: '' },
    },
  });
  assert.equal(body.code, 'INVALID_VARIABLES');
});

test('leaves the dialect out of schemas, unless it changes the meaning', async () => {
  const answer = { type: 'object', properties: { answer: { type: 'string' } } };
  const pair = { type: 'object', properties: { pair: { items: [{ type: 'string' }] } } };
  const draft7 = 'http://json-schema.org/draft-07/schema#';
  const modernDialect = 'https://json-schema.org/draft/2020-12/schema';
  const cases = [
    { slug: 'with-2020', schema: { $schema: modernDialect, ...answer }, named: undefined },
    { slug: 'with-draft-7', schema: { $schema: draft7, ...answer }, named: undefined },
    { slug: 'with-pairs', schema: { $schema: draft7, ...pair }, named: draft7 },
  ];
  for (const { slug, schema } of cases) {
    await deployTool(service, {
      agent: { agentName: slug, slug },
      version: { user: '{}', responseFormat: { type: 'json', schema } },
    });
  }
  const { body } = await modern(service, 'tools/list', {}, { key });
  for (const { slug, named } of cases) {
    const tool = body.result.tools.find(({ name }: { name: string }) => name === slug);
    assert.equal(tool.outputSchema.$schema, named, slug);
    assert.equal(tool.outputSchema.type, 'object');
  }
});
