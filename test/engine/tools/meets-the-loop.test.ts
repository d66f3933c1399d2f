import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ended, run } from '../../../harness/agents.ts';
import { unlimited } from '../../../harness/batches.ts';
import { readCsvLine } from '../../../harness/csv.ts';
import { modern } from '../../../harness/mcp.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { startService } from '../../../harness/service.ts';
import { tablesWith } from '../../../harness/tables-with.ts';
import {
  addToolAgent,
  calling,
  executedTool,
  loseWorker,
  scriptedTools,
  toolResult,
} from '../../../harness/tool-agents.ts';
import { sql } from '../../../src/db/sql.ts';

/** What meets an execution that calls tools: the other interfaces, and erasures. */

const tools = scriptedTools();
const service = await startService({ tools });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });
const looped = () => service.models.script(calling(['act', {}]), { text: 'done' });

test('a client of MCP gets the answer of the last turn', async () => {
  await addToolAgent(service, [executedTool()], { slug: 'looping' });
  looped();
  const params = { name: 'looping', arguments: { text: 'go' } };
  const { body } = await modern(service, 'tools/call', params, { key });
  assert.equal(body.result.isError ?? false, false, JSON.stringify(body));
  assert.match(JSON.stringify(body.result.content), /done/);
});

test('the Responses API returns the answer of the last turn, and refuses tools of the caller', async () => {
  const agent = await addToolAgent(service, [executedTool()]);
  await sql`update agents set allow_tools = true where id = ${agent.id}`.execute(service.db);
  const create = (more: object = {}) =>
    service.call('POST', '/v1/responses', {
      ...{ key, body: { model: agent.agentId, input: 'go', ...more } },
    });
  looped();
  const { status, body } = await create();
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.output.map(({ type }: { type: string }) => type),
    ['message'],
  );
  assert.equal(body.output[0].content[0].text, 'done');
  const mine = { type: 'function', name: 'mine', parameters: { type: 'object' } };
  const refused = await create({ tools: [mine] });
  assert.deepEqual([refused.status, refused.body.error?.param], [400, 'tools']);
});

test('exports have the turns and the calls of an execution', async () => {
  const agent = await addToolAgent(service, [executedTool()]);
  service.models.script(calling(['act', {}], ['act', {}]), calling(['act', {}]), { text: 'done' });
  await run(service, agent, key, { text: 'go' });
  service.models.script({ text: 'none' });
  await run(service, agent, key, { text: 'go' });
  const linesOf = async (format: string, end: string) => {
    const path = `${service.url}${agent.path}/executions/export?format=${format}`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${key}` } });
    return (await response.text()).split(end).slice(0, -1);
  };
  const objects = (await linesOf('jsonl', '\n')).map((line) => JSON.parse(line));
  assert.deepEqual(
    objects.map(({ outputText, turns, toolCallsMade }) => [outputText, turns, toolCallsMade]),
    [
      ['none', 1, 0],
      ['done', 3, 3],
    ],
  );
  const [head = [], ...rows] = (await linesOf('csv', '\r\n')).map((line) =>
    readCsvLine(`${line}\r\n`),
  );
  const columns = ['turns', 'toolCallsMade'].map((name) => head.indexOf(name));
  assert.deepEqual(
    rows.map((row) => columns.map((at) => row[at])),
    [
      ['1', '0'],
      ['3', '3'],
    ],
  );
});

test('a call whose value an erasure has removed from the live execution is not sent', async () => {
  const tool = { bind: { user: 'user' }, inputSchema: { type: 'object' } };
  const agent = await addToolAgent(service, [executedTool(tool)]);
  service.models.script(calling(['act', {}]));
  const second = service.models.hold();
  const { body: accepted } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { text: 'go' }, user: 'Yolanda' } },
  });
  await second.arrived;
  const sent = tools.requests.length;
  await service.call('POST', '/api/v1/erasures', { key, body: { user: 'Yolanda' } });
  await runRetentionRound(service.db, service.database);
  service.models.script(calling(['act', {}]), { text: 'done' });
  await loseWorker(service, accepted.executionId);
  const record = await ended(service, accepted.statusUrl, key);
  second.release();
  assert.deepEqual([record.outputText, record.turns], ['done', 3]);
  assert.equal(tools.requests.length, sent);
  assert.equal(
    service.models.calls.at(-1)?.messages?.at(-1)?.content,
    'A value that the call supplies does not exist any more.',
  );
});

test('an erasure finds an execution between its turns, and leaves nothing in its steps', async () => {
  const tool = {
    bind: { user: 'user' },
    inputSchema: { type: 'object', properties: { user: { type: 'string' } } },
  };
  const agent = await addToolAgent(service, [executedTool(tool)]);
  service.models.script(calling(['act', { a: 'Zerlina' }]));
  tools.script(toolResult('of Zerlina'));
  const second = service.models.hold();
  const { body: accepted } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { text: 'go' }, user: 'Zerlina' } },
  });
  await second.arrived;
  assert.ok((await tablesWith(service.db, 'Zerlina')).join().includes('execution_steps'));
  const { body } = await service.call('POST', '/api/v1/erasures', {
    ...{ key, body: { user: 'Zerlina' } },
  });
  second.release({ text: 'done' });
  await ended(service, accepted.statusUrl, key).catch(() => null);
  const at = `/api/v1/erasures/${body.erasureId}`;
  do {
    await runRetentionRound(service.db, service.database);
  } while ((await service.call('GET', at, { key })).body.status !== 'completed');
  const tables = await tablesWith(service.db, 'Zerlina');
  assert.ok(!tables.join().includes('execution_steps'), tables.join());
});
