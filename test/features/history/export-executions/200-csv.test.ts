import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { readCsvLine } from '../../../../harness/csv.ts';
import { makeAgent, makePrompt, move } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { type AnswerDetails, ModelFailure, noCost } from '../../../../src/core/model/model-port.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { system: 'Be kind', config: { temperature: 0.5 } });
const paused = await addAgent(service, { stage: 'Paused' });

const responseFormat = { type: 'json', schema: { type: 'object' } } as const;
const json = await addAgent(service, {
  config: { temperature: 0.5, responseFormat, stream: true },
});
service.models.script({ settingsNotApplied: ['temperature'], text: '{"a": 1}' });
await run(service, json, key, { name: 'Ada, "the first"', seats: 5 });
const tools = [{ name: 'find', parameters: { type: 'object' } }];
const prompt = await makePrompt(service, { user: '{{name}}', tools, toolChoice: 'auto', seed: 7 });
const tooled = await makeAgent(service, prompt);
await move(service, tooled, 'enable-api');
const call = { id: 'c1', name: 'find', arguments: '{}' };
service.models.script({ text: '', toolCalls: [call], finishReason: 'tool-calls' });
await run(service, tooled, key, { name: 'Dan' });
const details: AnswerDetails = {
  ...{ reasoningText: 'hm', reasoningTokens: 4, refusalText: 'No.' },
  ...{ modelAnswered: 'm-2', providerRequestId: 'r-1', providerFinishReason: 'eos' },
};
service.models.script(
  new ModelFailure('PROVIDER_AUTH', 'no', {
    ...{ cost: { ...noCost, source: 'table' }, details },
  }),
);
await run(service, agent, key, { name: 'Bob;=1' });
await service.call('POST', `${paused.path}/execute`, { key, body: { variables: { name: 'x' } } });
const workflow = await makeWorkflow(service, greeting(agent.agentId));
const labels = { user: 'u,1', session: 's', tags: ['a', 'b'], metadata: { plan: 'pro' } };
const body = { input: { name: 'Cyd' }, ...labels };
const started = await service.call('POST', `${workflow.path}/execute`, { key, body });
await service.call('GET', `${started.body.statusUrl}?wait=30`, { key });

async function linesOf(format: string, end: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${key}` };
  const path = `${service.url}/api/v1/executions/export?format=${format}`;
  return (await (await fetch(path, { headers })).text()).split(end).slice(0, -1);
}

const records = (await linesOf('jsonl', '\n')).map((line) => JSON.parse(line));
const [head = [], ...rows] = (await linesOf('csv', '\r\n')).map((line) =>
  readCsvLine(`${line}\r\n`),
);

test('a cell contains the field of the record, or is empty without one', () => {
  assert.equal(records.length, 5);
  assert.deepEqual(
    rows,
    records.map((record) => head.map((name) => textOf(record[name]))),
  );
});

test('every field of a record has a column, except the repeated text', () => {
  // These records store their bodies, run none again, belong to no batch or playground, were not canceled in a stream, and have no limit of cost.
  const absent = ['files', 'rerunOf', 'batchId', 'playground', 'partialText', 'warnings'];
  absent.push('settingsApplied', 'reservedUSD', 'overrunUSD', 'turns', 'toolCallsMade');
  const fields = new Set([...records.flatMap((record) => Object.keys(record)), ...absent]);
  for (const name of ['workflowRunId', 'stepName', 'ipAddress', 'userAgent', 'queuedAt', 'error']) {
    assert.ok(fields.has(name), name);
  }
  assert.deepEqual(head.toSorted(), [...fields].filter((name) => name !== 'output').toSorted());
});

test('columns keep their position, and new columns come last', () => {
  const later = ['queuedAt', 'ipAddress', 'userAgent', 'workflowRunId', 'stepName'];
  later.push('settingsNotApplied');
  later.push('modelAnswered', 'providerRequestId', 'reasoningTokens', 'reasoningText');
  later.push('refusalText', 'costSource');
  later.push('user', 'session', 'tags', 'metadata');
  later.push('messages', 'tools', 'toolChoice', 'settings', 'toolCalls');
  later.push('outputJson', 'attemptList', 'files', 'firstTextMs', 'rerunOf', 'batchId');
  later.push('playground', 'providerFinishReason', 'partialText', 'warnings');
  later.push('settingsApplied', 'reservedUSD', 'overrunUSD', 'turns', 'toolCallsMade');
  assert.deepEqual(head.slice(0, 3), ['executionId', 'executedAt', 'agentId']);
  assert.equal(head[27], 'outputText');
  assert.deepEqual(head.slice(28), later);
});

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

test('bom=true starts with a byte order mark and guards formula signs after separators', async () => {
  const headers = { authorization: `Bearer ${key}` };
  const path = `${service.url}/api/v1/executions/export?format=csv&bom=true`;
  const bytes = Buffer.from(await (await fetch(path, { headers })).arrayBuffer());
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
  const text = bytes.toString('utf8');
  assert.equal(text.slice(1).split('\r\n')[0], head.join(','));
  assert.ok(text.includes("Bob;'=1"));
  const [last] = records.slice(-1);
  const rest = await fetch(`${path}&cursor=${last.executionId}`, { headers });
  assert.equal(Buffer.from(await rest.arrayBuffer()).length, 0);
});

test('every text of plain CSV is quoted, and no byte order mark precedes it', async () => {
  const [first = '', line = ''] = await linesOf('csv', '\r\n');
  assert.match(first, /^executionId,/);
  assert.match(line, /^"exe_[^"]+","[^"]+",/);
});

test('bom requires CSV', async () => {
  for (const query of ['bom=true', 'format=jsonl&bom=true', 'format=csv&bom=yes']) {
    const { status } = await service.call('GET', `/api/v1/executions/export?${query}`, { key });
    assert.equal(status, 400, query);
  }
});
