import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ended } from '../../../harness/agents.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { makePrompt } from '../../../harness/prompts.ts';
import { toReceivers } from '../../../harness/receiver.ts';
import { startService } from '../../../harness/service.ts';
import {
  addToolAgent,
  calling,
  executedTool,
  scriptedTools,
} from '../../../harness/tool-agents.ts';
import { addToolServer } from '../../../harness/tool-server.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { db } = service;

/** As a process of the previous version registers its worker. */
async function addEarlier(): Promise<string> {
  const id = freshId();
  await sql`
    insert into workers (id, lease_until, opens_urls, keeps_budgets)
    values (${id}, clock_timestamp() + interval '1 hour', true, true)`.execute(db);
  return id;
}

test('no version has tools beside a worker that runs none, whichever comes first', async () => {
  const { key } = await service.key();
  const { name: server } = await addToolServer(service, { url: 'http://127.0.0.1:1/' });
  const prompt = await makePrompt(service, { user: 'Hello' });
  const create = () =>
    service.call('POST', `${prompt.path}/versions`, {
      ...{ key, body: { user: 'Hello', tools: [{ server, tool: 'refund', approval: 'never' }] } },
    });
  const earlier = await addEarlier();
  const { status, body } = await create();
  assert.deepEqual([status, body.code], [503, 'UNAVAILABLE']);
  assert.match(body.message, /Workers of an earlier version/);
  service.faults.length = 0;
  await assert.rejects(addToolAgent(service, [executedTool()]), /earlier version/);
  await sql`delete from workers where id = ${earlier}`.execute(db);
  assert.equal((await create()).status, 201);
  await assert.rejects(addEarlier(), /earlier version/);
});

test('what a process of an earlier version accepted runs with its tools, at the default limits', async () => {
  const tools = scriptedTools();
  const accepting = await startService({ role: 'api' });
  const { key } = await accepting.key();
  const agent = await addToolAgent(accepting, [executedTool()], {
    config: { tools: { maxTurns: 1 } },
  });
  accepting.models.script(calling(['act', {}]), { text: 'done' });
  const { body } = await accepting.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { text: 'go' } } },
  });
  await sql`update execution_queue set turns = null, settings = (settings::jsonb - 'tools')::json`.execute(
    accepting.db,
  );
  const working = await startService({ sharedWith: accepting, tools, models: accepting.models });
  const record = await ended(accepting, body.statusUrl, key);
  assert.deepEqual([record.outputText, record.turns, record.toolCallsMade], ['done', 2, 1]);
  await working.close();
  await accepting.close();
});
