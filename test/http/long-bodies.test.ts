import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../harness/agents.ts';
import { during } from '../../harness/locks.ts';
import { modern } from '../../harness/mcp.ts';
import { makeAgent, makePrompt, move } from '../../harness/prompts.ts';
import { startService } from '../../harness/service.ts';
import { addWorkflow, step, withText } from '../../harness/workflow-runs.ts';
import { sql } from '../../src/db/sql.ts';

/** An image of 20 MiB over each API that takes one, and what its length does to others. */

const service = await startService();
after(service.close);
const { db } = service;
const { key } = await service.key();
const image = `data:image/png;base64,${Buffer.alloc(20 * 1_048_576, 7).toString('base64')}`;

async function agentOf(slug: string, messages: object[], variable: string) {
  const prompt = await makePrompt(service, { messages });
  const agent = await makeAgent(service, prompt, { slug, requiredVariables: [variable] });
  await move(service, agent, 'enable-api');
  return agent;
}

const photo = await agentOf(
  'photo',
  [{ role: 'user', content: [{ text: 'What?' }, { image: '{{photo}}' }] }],
  'photo',
);
await agentOf('chat', [{ placeholder: 'history' }], 'history');

/** The images that the model got last. */
function sentImages(): unknown[] {
  const { messages = [] } = service.models.calls.at(-1) ?? {};
  return messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((part) => ('image' in part ? [part.image.value === image] : [])),
  );
}

test('by execute, and the record has it', async () => {
  const body = JSON.stringify({ variables: { photo: image } });
  const accepted = await service.call('POST', `${photo.path}/execute`, { key, body });
  assert.equal(accepted.status, 202, accepted.body.message);
  const record = await ended(service, accepted.body.statusUrl, key);
  assert.deepEqual([record.status, sentImages()], ['success', [true]]);
  assert.ok(record.inputVariables.photo === image);
});

test('by chat completions', async () => {
  const content = [
    { type: 'text', text: 'What?' },
    { type: 'image_url', image_url: { url: image } },
  ];
  const body = JSON.stringify({ model: 'chat', messages: [{ role: 'user', content }] });
  const { status } = await service.call('POST', '/v1/chat/completions', { key, body });
  assert.deepEqual([status, sentImages()], [200, [true]]);
});

for (const [what, content] of [
  [
    'with a text',
    [
      { type: 'input_text', text: 'What?' },
      { type: 'input_image', image_url: image },
    ],
  ],
  ['as the only variable', [{ type: 'input_image', image_url: image }]],
] as const) {
  test(`by responses, ${what}`, async () => {
    const model = content.length === 1 ? 'photo' : 'chat';
    const body = JSON.stringify({ model, input: [{ role: 'user', content }] });
    const { status, body: answered } = await service.call('POST', '/v1/responses', { key, body });
    assert.deepEqual([status, answered.status, sentImages()], [200, 'completed', [true]]);
  });
}

test('by MCP', async () => {
  const params = { name: 'photo', arguments: { photo: image } };
  const { status, body } = await modern(service, 'tools/call', params, { key });
  assert.deepEqual([status, body.result.isError ?? false, sentImages()], [200, false, [true]]);
});

test('beside the messages of a call, and the arguments of tools, a body has at most 1 MiB', async () => {
  const long = { x: Array.from({ length: 400_000 }, (_, n) => n) };
  const call = { model: 'chat', messages: [{ role: 'user', content: 'x' }], metadata: long };
  const refused = await service.call('POST', '/v1/chat/completions', { key, body: call });
  assert.equal(refused.status, 400);
  const params = { name: 'photo', arguments: { photo: 'x' }, _meta: long };
  const { status, body } = await modern(service, 'tools/call', params, { key });
  assert.equal(status, 413);
  assert.match(body.message, /arguments of calls must have at most 1048576 bytes/);
});

test('a workflow starts with a long input', async () => {
  const text = await addAgent(service, { user: '{{text}}' });
  const steps = [step({ name: 'a', agent: text, ...withText('x') })];
  const workflow = await addWorkflow(service, { steps });
  const path = `/api/v1/workflows/${workflow.workflowId}/execute`;
  const body = { input: { topic: 'x'.repeat(5_000_000) } };
  const { status, body: started } = await service.call('POST', path, { key, body });
  assert.equal(status, 202, started.message);
});

test('contents are written before the call waits for a lock, and stay as they are if it is accepted', async () => {
  const name = `${'x'.repeat(1_100_000)} "é"`;
  const agent = await addAgent(service);
  const body = { variables: { name } };
  const call = () => service.call('POST', `${agent.path}/execute`, { key, body });
  // The caller is known from now on.
  assert.equal((await call()).status, 202);
  const lock = sql`select from limits where subject = ${agent.id} for update`;
  const accepted = await during(
    db,
    (trx) => lock.execute(trx),
    call,
    async (trx) => {
      const { rows } = await sql`
        select from pg_locks waiting join pg_locks held using (pid)
        where not waiting.granted and held.relation = 'execution_queue'::regclass
          and held.mode = 'RowExclusiveLock'`.execute(trx);
      assert.equal(rows.length, 1);
    },
  );
  assert.equal(accepted.status, 202);
  const record = await ended(service, accepted.body.statusUrl, key);
  assert.ok(record.inputVariables.name === name);
});

test('what a refused call has written is removed', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 2 } });
  const body = { variables: { name: 'x'.repeat(1_100_000) } };
  const call = () => service.call('POST', `${agent.path}/execute`, { key, body });
  const statuses = [await call(), await call(), await call()].map(({ status }) => status);
  assert.deepEqual(statuses, [202, 202, 429]);
  const { rows } = await sql`select from execution_queue where agent_name = ''`.execute(db);
  assert.equal(rows.length, 0);
});
