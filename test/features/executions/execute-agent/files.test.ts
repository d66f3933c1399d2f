import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { allowedHost, startService } from '../../../../harness/service.ts';
import { filesOf } from '../../../../src/core/agent/content.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

/** Images and files as variables: what the model gets, what the record keeps, and who sees it. */

const service = await startService();
after(service.close);
const { key } = await service.key();
const limited = await service.key({ permissions: ['execute'] });

const bytes = Buffer.from('89504e470d0a1a0a', 'hex');
const base64 = bytes.toString('base64');
const photo = `data:image/png;base64,${base64}`;
const contract = 'https://files.example/contract.pdf?signature=secret';
const info = {
  ...{ variable: 'photo', type: 'image/png', bytes: 8 },
  sha256: createHash('sha256').update(bytes).digest('hex'),
};
const version = {
  messages: [
    { role: 'system', content: [{ text: 'Be {{tone}}.' }] },
    { placeholder: 'history' },
    {
      role: 'user',
      content: [{ text: 'What is this?' }, { image: '{{photo}}' }, { file: '{{contract}}' }],
    },
  ],
};
const optional = {
  requiredVariables: ['photo'],
  optionalVariables: ['tone', 'history', 'contract'],
};
const variables = { tone: 'brief', photo, contract };

async function agentOf(more: object = {}) {
  const agent = await makeAgent(service, await makePrompt(service, version), {
    ...optional,
    ...more,
  });
  await move(service, agent, 'enable-api');
  return agent;
}

async function run(path: string, values: object, as = key) {
  const body = { variables: values };
  const accepted = await service.call('POST', `${path}/execute`, { key: as, body });
  assert.equal(accepted.status, 202, JSON.stringify(accepted.body));
  return (await service.call('GET', `${accepted.body.statusUrl}?wait=30`, { key: as })).body;
}

test('the model gets the files, and the record has each once', async () => {
  const agent = await agentOf();
  const record = await run(agent.path, variables);
  assert.equal(record.status, 'success', JSON.stringify(record));
  assert.deepEqual(service.models.calls.at(-1)?.messages, [
    { role: 'system', content: [{ text: 'Be brief.' }] },
    {
      role: 'user',
      content: [
        { text: 'What is this?' },
        { image: { variable: 'photo', value: photo } },
        { file: { variable: 'contract', value: contract } },
      ],
    },
  ]);
  assert.deepEqual(record.messages, [
    { role: 'system', content: [{ text: 'Be brief.' }] },
    {
      role: 'user',
      content: [{ text: 'What is this?' }, { image: info }, { file: contract }],
    },
  ]);
  assert.deepEqual([record.systemPrompt, record.userPrompt], ['Be brief.', 'What is this?']);
  assert.deepEqual(record.inputVariables, variables);
  assert.deepEqual(record.files, [info, { variable: 'contract' }]);
  assert.equal(JSON.stringify(record).split(base64).length, 2, 'the data is in the record once');
});

test('the model gets a file in base64, whatever form it was sent in, and so has the record', async () => {
  const agent = await agentOf();
  const percentEncoded = `data:image/png,${[...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`;
  const forms = [percentEncoded, photo.replace('png;', 'PNG;a=b;'), `${photo.replace('=', '')}\n`];
  for (const form of forms) {
    for (const sent of [{ photo: form }, { photo, history: [userMessage(form)] }]) {
      const record = await run(agent.path, sent);
      const messages = service.models.calls.at(-1)?.messages ?? [];
      const values = messages
        .flatMap(({ content }) => filesOf(content))
        .map((one) => one.source.value);
      assert.deepEqual(new Set(values), new Set([photo]), form);
      assert.equal(record.inputVariables.photo, photo);
      assert.equal(record.files.at(-1).sha256, info.sha256);
    }
  }
});

function userMessage(image: string) {
  return { role: 'user', content: [{ image }] };
}

test('lists have references, exports the files, and searches do not read them', async () => {
  const agent = await agentOf();
  const { executionId } = await run(agent.path, variables);
  const list = await service.call('GET', `${agent.path}/executions`, { key });
  const [listed] = list.body.executions;
  assert.equal(listed.inputVariables.photo, `data:image/png;bytes=8;sha256=${info.sha256}`);
  assert.equal(listed.inputVariables.contract, contract);
  for (const [q, found] of [
    [base64.slice(0, 8), 0],
    ['brief', 1],
  ] as const) {
    const searched = await service.call('GET', `${agent.path}/executions?q=${q}`, { key });
    assert.equal(searched.body.pagination.total, found, q);
  }
  for (const format of ['jsonl', 'csv']) {
    const path = `${service.url}${agent.path}/executions/export?format=${format}`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    assert.ok(text.includes(executionId) && text.includes(base64), format);
  }
});

test('a supplied list of messages may contain files', async () => {
  const agent = await agentOf();
  const history = [
    { role: 'user', content: [{ text: 'And this?' }, { image: photo }] },
    { role: 'assistant', content: 'A cat.' },
  ];
  const record = await run(agent.path, { ...variables, history });
  const [, first] = service.models.calls.at(-1)?.messages ?? [];
  assert.deepEqual(first?.content, [
    { text: 'And this?' },
    { image: { variable: 'history', value: photo } },
  ]);
  assert.deepEqual(record.messages[1].content, [
    { text: 'And this?' },
    { image: { ...info, variable: 'history' } },
  ]);
  assert.deepEqual(record.inputVariables.history, history);
});

test('anything else is 400 with the variable', async () => {
  const agent = await agentOf();
  const values = [
    ['photo', 'a cat'],
    ['photo', 7],
    ['photo', 'http://files.example/a.png'],
    ['photo', 'data:application/pdf;base64,JVBERi0='],
    ['photo', 'data:image/png;base64,###'],
    ['photo', `data:image/png;bytes=8;sha256=${info.sha256}`],
    ['contract', 'contract.pdf'],
    ['history', [{ role: 'user', content: [{ image: 'a cat' }] }]],
  ] as const;
  for (const [variable, value] of values) {
    const body = { variables: { ...variables, [variable]: value } };
    const refused = await service.call('POST', `${agent.path}/execute`, { key, body });
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.variable],
      [400, 'INVALID_VARIABLES', variable],
      JSON.stringify(value),
    );
  }
});

test('a URL may begin with http: if its host is allowed', async () => {
  const agent = await agentOf();
  const at = (host: string) => `http://${host}/a.png`;
  const history = (host: string) => [{ role: 'user', content: [{ image: at(host) }] }];
  const record = await run(agent.path, {
    ...{ photo: at(allowedHost), history: history(allowedHost) },
  });
  assert.equal(record.status, 'success', JSON.stringify(record));
  const other = '127.0.0.1:9001';
  for (const values of [{ photo: at(other) }, { photo, history: history(other) }]) {
    const body = { variables: values };
    const refused = await service.call('POST', `${agent.path}/execute`, { key, body });
    assert.deepEqual([refused.status, refused.body.code], [400, 'INVALID_VARIABLES']);
    assert.match(refused.body.message, /CUELINE_ALLOWED_HOSTS/);
  }
});

test('the 413 says to pass a URL', async () => {
  const agent = await agentOf();
  const big = `data:image/png;base64,${'A'.repeat(33_554_432)}`;
  const body = { variables: { photo: big } };
  const refused = await service.call('POST', `${agent.path}/execute`, { key, body });
  assert.deepEqual([refused.status, refused.body.code], [413, 'BODY_TOO_LARGE']);
  assert.match(refused.body.message, /as https URLs/);
});

test('a default is checked with the agent, and used', async () => {
  const prompt = await makePrompt(service, version);
  const invalid = { ...optional, defaultVariableValues: { photo: 'a cat' } };
  const pin = { promptId: prompt.promptId, promptVersionId: prompt.versionIds[0] };
  const body = { agentName: 'A', ...pin, ...invalid };
  const refused = await service.call('POST', '/api/v1/agents', { key, body });
  assert.equal(refused.status, 400, JSON.stringify(refused.body));
  assert.match(refused.body.message, /"defaultVariableValues.photo" must be an image/);
  const agent = await agentOf({
    ...{ requiredVariables: [], optionalVariables: ['tone', 'history', 'contract'] },
    defaultVariableValues: { photo },
  });
  const record = await run(agent.path, {});
  assert.deepEqual(record.messages.at(-1).content, [{ text: 'What is this?' }, { image: info }]);
  assert.deepEqual(record.files, [info]);
});

test('files need read', async () => {
  const agent = await agentOf();
  const record = await run(agent.path, variables, limited.key);
  assert.equal(record.status, 'success');
  assert.ok(!JSON.stringify(record).includes(info.sha256));
  for (const name of ['files', 'inputVariables', 'messages']) assert.ok(!(name in record), name);
});

test('an agent that stores no bodies keeps what is known of the files', async () => {
  const agent = await agentOf({ storeBodies: false });
  const record = await run(agent.path, variables);
  assert.deepEqual(record.files, [info, { variable: 'contract' }]);
  for (const name of ['inputVariables', 'messages']) assert.ok(!(name in record), name);
  const id = fromId('execution', record.executionId);
  const { rows } = await sql<{ kept: string | null }>`
    select file_data::text as kept from executions where id = ${id}`.execute(service.db);
  assert.equal(rows[0]?.kept, null);
});

test('another worker gets the files of an execution that waited in the queue', async () => {
  const agent = await agentOf({ agentConfig: { model: 'openai/gpt-5', maxConcurrency: 1 } });
  const held = service.models.hold();
  const body = { variables };
  const first = await service.call('POST', `${agent.path}/execute`, { key, body });
  await held.arrived;
  const second = await service.call('POST', `${agent.path}/execute`, { key, body });
  held.release({ text: 'a' });
  for (const { body: accepted } of [first, second]) {
    const { body: record } = await service.call('GET', `${accepted.statusUrl}?wait=30`, { key });
    assert.equal(record.status, 'success');
  }
  const content = service.models.calls.at(-1)?.messages?.at(-1)?.content;
  assert.deepEqual(content?.[1], { image: { variable: 'photo', value: photo } });
});

test('a canceled execution has its messages with references', async () => {
  const agent = await agentOf();
  const held = service.models.hold();
  const { body: accepted } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables },
  });
  await held.arrived;
  await service.call('POST', `${accepted.statusUrl}/cancel`, { key });
  const { body: record } = await service.call('GET', `${accepted.statusUrl}?wait=30`, { key });
  assert.equal(record.status, 'canceled');
  assert.deepEqual(record.messages.at(-1).content[1], { image: info });
  held.release({ text: 'late' });
});

test('an execution that is canceled before its start has its files and variables, and no messages', async () => {
  const agent = await agentOf({ agentConfig: { maxConcurrency: 1 } });
  const held = service.models.hold();
  const body = { variables };
  const first = await service.call('POST', `${agent.path}/execute`, { key, body });
  await held.arrived;
  const { body: queued } = await service.call('POST', `${agent.path}/execute`, { key, body });
  await service.call('POST', `${queued.statusUrl}/cancel`, { key });
  const { body: record } = await service.call('GET', queued.statusUrl, { key });
  assert.equal(record.status, 'canceled');
  assert.deepEqual(record.files, [info, { variable: 'contract' }]);
  assert.deepEqual(record.inputVariables, variables);
  assert.equal(record.messages, undefined);
  held.release({ text: 'a' });
  await service.call('GET', `${first.body.statusUrl}?wait=30`, { key });
});
