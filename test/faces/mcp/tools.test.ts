import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { makeWorkflow } from '../../../harness/created-workflows.ts';
import { legacy, modern } from '../../../harness/mcp.ts';
import { startService } from '../../../harness/service.ts';
import { deployTool } from '../../../harness/tools.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  // biome-ignore lint/suspicious/noExplicitAny: a JSON schema
  readonly inputSchema: any;
  // biome-ignore lint/suspicious/noExplicitAny: a JSON schema
  readonly outputSchema?: any;
}

async function toolsOf(given: string, send = modern): Promise<Tool[]> {
  const { body } = await send(service, 'tools/list', {}, { key: given });
  return body.result.tools;
}

async function toolOf(name: string, send = modern): Promise<Tool | undefined> {
  return (await toolsOf(key, send)).find((tool) => tool.name === name);
}

test('lists the agents that accept calls and that the key sees', async () => {
  const [open, bound] = [
    await addAgent(service, { slug: 'open' }),
    await addAgent(service, { slug: 'bound', stage: 'Testing' }),
  ];
  await addAgent(service, { slug: 'draft', stage: 'Draft' });
  await addAgent(service, { slug: 'paused', stage: 'Paused' });
  await addAgent(service, { slug: 'off', apiEnabled: false });
  const editor = await service.member('editor');
  await addAgent(service, { slug: 'hidden', visibility: 'private', createdBy: service.ownerId });
  const elsewhere = await service.workspace();
  await addAgent(service, { slug: 'foreign', ...elsewhere, createdBy: elsewhere.ownerId });
  const names = async (given: string) => (await toolsOf(given)).map(({ name }) => name);
  assert.deepEqual(await names(key), ['bound', 'hidden', 'open']);
  assert.deepEqual(await names((await service.key({ userId: editor })).key), ['bound', 'open']);
  const one = await service.key({ agentIds: [bound.agentId] });
  assert.deepEqual(await names(one.key), ['bound']);
  assert.ok(open);
});

test('describes the arguments by the variables and their schemas', async () => {
  await deployTool(service, {
    agent: {
      agentName: 'Ticket triage',
      slug: 'triage',
      requiredVariables: ['ticket', 'count'],
      optionalVariables: ['tone', 'history'],
      defaultVariableValues: { tone: 'kind' },
    },
    version: {
      messages: [
        { placeholder: 'history' },
        { role: 'user', content: '{{ticket}} {{count}} {{tone}}' },
      ],
      variableSchemas: {
        count: { type: 'integer', minimum: 1 },
        ticket: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: { from: { $ref: '#/$defs/person' }, $ref: { const: { $ref: '#' } } },
          $defs: { person: { type: 'string' } },
        },
      },
    },
  });
  const tool = await toolOf('triage');
  assert.equal(tool?.title, 'Ticket triage');
  const { properties, required, type, additionalProperties } = tool?.inputSchema ?? {};
  assert.equal(type, 'object');
  assert.equal(additionalProperties, false);
  assert.deepEqual(required, ['ticket', 'count']);
  assert.deepEqual(Object.keys(properties), ['ticket', 'count', 'tone', 'history']);
  assert.deepEqual(properties.count, { type: 'integer', minimum: 1 });
  assert.deepEqual(properties.tone, { type: 'string', default: 'kind' });
  assert.equal(properties.history.type, 'array');
  // References lead to the same place inside the schema of the tool; data stays as it is.
  assert.deepEqual(properties.ticket, {
    type: 'object',
    properties: {
      from: { $ref: '#/properties/ticket/$defs/person' },
      $ref: { const: { $ref: '#' } },
    },
    $defs: { person: { type: 'string' } },
  });
});

test('describes a tool by its agent, else its prompt, else its title', async () => {
  const agent = { agentName: 'Described' };
  await deployTool(service, { agent: { ...agent, slug: 'one', description: 'Of the agent' } });
  await deployTool(service, { agent: { ...agent, slug: 'two' }, description: 'Of the prompt' });
  await deployTool(service, { agent: { ...agent, slug: 'three' } });
  assert.equal((await toolOf('one'))?.description, 'Of the agent');
  assert.equal((await toolOf('two'))?.description, 'Of the prompt');
  assert.equal((await toolOf('three'))?.description, 'Described');
});

test('describes the output by the response format', async () => {
  const format = (schema: object) => ({ responseFormat: { type: 'json', schema } });
  const object = { type: 'object', properties: { b: {}, a: {} } };
  await deployTool(service, {
    agent: { agentName: 'Object', slug: 'object' },
    version: { user: 'Hello', ...format(object) },
  });
  const list = { type: 'array' };
  await deployTool(service, {
    agent: { agentName: 'List', slug: 'list', agentConfig: format(list) },
    version: { user: 'Hello', ...format(object) },
  });
  assert.deepEqual((await toolOf('object'))?.outputSchema, object);
  assert.deepEqual((await toolOf('list'))?.outputSchema, list);
  // Before 2026-07-28, an output is an object.
  assert.deepEqual((await toolOf('object', legacy))?.outputSchema, object);
  assert.equal((await toolOf('list', legacy))?.outputSchema, undefined);
});

test('lists workflows with their input', async () => {
  const agent = await addAgent(service, { slug: 'step' });
  const definition = {
    input: { required: ['name'], optional: ['tone'], defaults: { tone: 'kind' } },
    steps: [{ name: 'greet', agentId: agent.agentId, variables: { name: '{{input.name}}' } }],
  };
  await makeWorkflow(service, definition, { name: 'Flow', slug: 'flow', description: 'Greets.' });
  const tool = await toolOf('flow');
  assert.equal(tool?.title, 'Flow');
  assert.equal(tool?.description, 'Greets.');
  assert.deepEqual(tool?.inputSchema, {
    type: 'object',
    properties: { name: { type: 'string' }, tone: { type: 'string', default: 'kind' } },
    required: ['name'],
    additionalProperties: false,
  });
});

test('pages through the tools of a large workspace in the order of their names', async () => {
  const large = await service.workspace();
  const own = await service.key({ userId: large.ownerId, workspaceId: large.workspaceId });
  const names = Array.from({ length: 1_003 }, (_, index) => `t${String(index).padStart(4, '0')}`);
  const from = { workspaceId: large.workspaceId, createdBy: large.ownerId };
  const { id } = await addAgent(service, { slug: 't0000', ...from });
  await sql`
    with copies as (
      insert into agents select copy.* from agents a, generate_series(1, ${names.length - 1}) as n,
        jsonb_populate_record(a, jsonb_build_object('id', md5(n::text)::uuid)) as copy
      where a.id = ${id} returning id)
    insert into slugs (workspace_id, slug, subject)
    select ${large.workspaceId}, 't' || lpad((row_number() over ())::text, 4, '0'), id
    from copies`.execute(service.db);
  const first = await modern(service, 'tools/list', {}, { key: own.key });
  const { tools, nextCursor } = first.body.result;
  const second = await modern(service, 'tools/list', { cursor: nextCursor }, { key: own.key });
  assert.equal(second.body.result.nextCursor, undefined);
  const listed = [...tools, ...second.body.result.tools].map(({ name }) => name);
  assert.deepEqual(listed, names);
  const wrong = await modern(service, 'tools/list', { cursor: 'No Cursor' }, { key: own.key });
  assert.equal(wrong.body.error.code, -32602);
});
