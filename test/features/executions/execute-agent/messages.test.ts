import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { runRetentionRound } from '../../../../harness/retention-round.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

/** Executions of versions with messages and tools: what the model gets, and what the record shows to whom. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const limited = await service.key({ permissions: ['execute'] });

const version = {
  messages: [
    { role: 'system', content: 'Be {{tone}}.' },
    { placeholder: 'history' },
    { role: 'user', content: '{{question}}' },
  ],
  tools: [{ name: 'weather', parameters: { type: 'object', properties: { city: {} } } }],
  toolChoice: 'auto',
  seed: 7,
};
const toolCalls = [{ id: 'c1', name: 'weather', arguments: { city: 'Bern' } }];
const history = [
  { role: 'user', content: 'Hi {{tone}}' },
  { role: 'assistant', content: '', toolCalls },
  { role: 'tool', toolCallId: 'c1', content: 'sunny' },
];
const variables = { tone: 'brief', question: 'And {{tone}}?', history };
const sent = [
  { role: 'system', content: 'Be brief.' },
  ...history,
  { role: 'user', content: 'And {{tone}}?' },
];

async function agentOf(body: object, more: object = {}) {
  const agent = await makeAgent(service, await makePrompt(service, body), { ...more });
  await move(service, agent, 'enable-api');
  return agent;
}

async function run(path: string, values: object, as = key) {
  const body = { variables: values };
  const accepted = await service.call('POST', `${path}/execute`, { key: as, body });
  assert.equal(accepted.status, 202, JSON.stringify(accepted.body));
  return (await service.call('GET', `${accepted.body.statusUrl}?wait=30`, { key: as })).body;
}

test('the model gets the messages, and the record shows them as sent', async () => {
  const agent = await agentOf(version);
  service.models.script({ text: '', toolCalls, finishReason: 'tool-calls' });
  const record = await run(agent.path, variables);
  const call = service.models.calls.at(-1);
  assert.deepEqual(call?.messages, sent);
  assert.deepEqual([call?.tools, call?.toolChoice], [version.tools, 'auto']);
  assert.deepEqual(record.messages, sent);
  assert.deepEqual([record.systemPrompt, record.userPrompt], ['Be brief.', 'And {{tone}}?']);
  assert.deepEqual([record.tools, record.toolChoice], [version.tools, 'auto']);
  assert.deepEqual(record.settings, { seed: 7 });
  assert.deepEqual([record.status, record.finishReason], ['success', 'tool-calls']);
  assert.deepEqual([record.toolCalls, record.outputText], [toolCalls, '']);

  const { executions } = (await service.call('GET', `${agent.path}/executions`, { key })).body;
  assert.deepEqual(executions[0].toolCalls, toolCalls);
  for (const name of ['messages', 'tools', 'settings']) assert.ok(!(name in executions[0]), name);
});

test('the short form is shown as messages too', async () => {
  const agent = await agentOf({ system: 'Be brief.', user: '{{question}}' });
  const record = await run(agent.path, { question: 'Why?' });
  assert.deepEqual(record.messages, [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Why?' },
  ]);
  assert.equal(service.models.calls.at(-1)?.messages, undefined);
});

test('a key without read sees the calls of tools, but not what was sent', async () => {
  const agent = await agentOf(version);
  service.models.script({ text: 'x', toolCalls, finishReason: 'tool-calls' });
  const record = await run(agent.path, variables, limited.key);
  assert.deepEqual([record.toolCalls, record.finishReason], [toolCalls, 'tool-calls']);
  for (const name of ['messages', 'systemPrompt', 'tools', 'toolChoice', 'settings']) {
    assert.ok(!(name in record), name);
  }
});

test('a malformed list is refused with its name', async () => {
  const agent = await agentOf(version);
  const lists = ['text', {}, [1], [{ role: 'bot', content: 'x' }], [{ role: 'user' }]];
  for (const list of lists) {
    const body = { variables: { ...variables, history: list } };
    const refused = await service.call('POST', `${agent.path}/execute`, { key, body });
    const { code, variable } = refused.body;
    assert.deepEqual([refused.status, code, variable], [400, 'INVALID_VARIABLES', 'history']);
  }
  const missing = { ...variables, history: null };
  const refused = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: missing },
  });
  assert.deepEqual(refused.body.missingVariables, ['history']);
});

test('an optional list may be left out or have a default', async () => {
  const messages = [{ placeholder: 'history' }, { role: 'user', content: 'Q' }];
  const optional = await agentOf({ messages }, { optionalVariables: ['history'] });
  assert.deepEqual((await run(optional.path, {})).messages, [{ role: 'user', content: 'Q' }]);
  const defaults = { defaultVariableValues: { history: [{ role: 'user', content: 'D' }] } };
  const withDefault = await agentOf({ messages }, defaults);
  const record = await run(withDefault.path, {});
  assert.deepEqual(
    record.messages.map(({ content }: { content: string }) => content),
    ['D', 'Q'],
  );
  assert.ok(!('systemPrompt' in record));
});

test('without stored bodies, nothing of messages, tools and calls remains', async () => {
  const secret = { ...variables, question: 'secret', tone: 'secret' };
  const agent = await agentOf(
    { ...version, tools: [{ name: 'weather', description: 'secret' }] },
    { storeBodies: false },
  );
  const secretCalls = [{ id: 'c2', name: 'weather', arguments: { city: 'secret' } }];
  service.models.script({ text: '', toolCalls: secretCalls, finishReason: 'tool-calls' });
  const record = await run(agent.path, secret);
  assert.deepEqual(record.toolCalls, secretCalls);
  assert.ok(!('messages' in record) && !('tools' in record) && !('settings' in record));
  await sql`update transient_outputs set ended_at = ended_at - interval '15 minutes'`.execute(
    service.db,
  );
  await runRetentionRound(service.db, service.database);
  const id = fromId('execution', record.executionId) ?? '';
  const { rows } = await sql<{ text: string }>`
    select e::text as text from executions e where id = ${id}`.execute(service.db);
  const [row] = rows;
  assert.ok(row && !row.text.includes('secret'));
});

test('a canceled execution shows the messages that were sent', async () => {
  const agent = await agentOf(version);
  const held = service.models.hold();
  const body = { variables };
  const accepted = await service.call('POST', `${agent.path}/execute`, { key, body });
  await held.arrived;
  const { statusUrl } = accepted.body;
  await service.call('POST', `${statusUrl}/cancel`, { key });
  const record = (await service.call('GET', `${statusUrl}?wait=30`, { key })).body;
  assert.equal(record.status, 'canceled');
  assert.deepEqual([record.messages, record.settings], [sent, { seed: 7 }]);
});

test('exports contain what was sent and the calls', async () => {
  const agent = await agentOf(version);
  service.models.script({ text: '', toolCalls, finishReason: 'tool-calls' });
  await run(agent.path, variables);
  const path = `${service.url}${agent.path}/executions/export`;
  const read = (format: string) =>
    fetch(`${path}?format=${format}`, { headers: { authorization: `Bearer ${key}` } });
  const line = JSON.parse(await (await read('jsonl')).text());
  assert.deepEqual([line.messages, line.toolCalls], [sent, toolCalls]);
  const csv = await (await read('csv')).text();
  assert.match(csv.split('\r\n')[0] ?? '', /,messages,tools,toolChoice,settings,toolCalls,/);
});
