import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ended } from '../../../harness/agents.ts';
import { unlimited } from '../../../harness/batches.ts';
import { startService } from '../../../harness/service.ts';
import {
  addToolAgent,
  executedTool,
  scriptedTools,
  toolResult,
} from '../../../harness/tool-agents.ts';
import { sql } from '../../../src/db/sql.ts';

const tools = scriptedTools();
const service = await startService({ tools });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });

const calling = (...calls: readonly (readonly [string, unknown])[]) => ({
  text: '',
  finishReason: 'tool-calls',
  toolCalls: calls.map(([name, given], index) => ({
    ...{ id: `call_${index + 1}`, name },
    arguments: given,
  })),
});

test('an execution calls its tools and answers', async () => {
  const agent = await addToolAgent(service, [executedTool()]);
  service.models.script(calling(['act', { a: 1 }], ['act', { a: 2 }]), { text: 'done' });
  tools.script(toolResult('one'), toolResult('two'));
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { text: 'go' } },
  });
  const record = await ended(service, body.statusUrl, key);
  assert.equal(record.status, 'success', JSON.stringify(record));
  assert.equal(record.outputText, 'done');
  assert.deepEqual([record.turns, record.toolCallsMade], [2, 2]);
  assert.deepEqual([record.inputTokens, record.outputTokens, record.attempts], [20, 10, 2]);
  assert.deepEqual(
    tools.requests.map(({ argumentsJson }) => argumentsJson),
    ['{"a":1}', '{"a":2}'],
  );
  const { rows } =
    await sql`select n, part, state, sent, result from execution_steps order by n, part`.execute(
      service.db,
    );
  assert.deepEqual(rows, [
    { n: 1, part: 0, state: 'done', sent: 0, result: null },
    { n: 1, part: 1, state: 'done', sent: 1, result: 'one' },
    { n: 1, part: 2, state: 'done', sent: 1, result: 'two' },
    { n: 2, part: 0, state: 'done', sent: 0, result: null },
  ]);
  assert.deepEqual(service.models.calls.at(-1)?.messages?.slice(1), [
    {
      ...{ role: 'assistant', content: '' },
      toolCalls: [
        { id: 'call_1', name: 'act', arguments: { a: 1 } },
        { id: 'call_2', name: 'act', arguments: { a: 2 } },
      ],
    },
    { role: 'tool', toolCallId: 'call_1', content: 'one' },
    { role: 'tool', toolCallId: 'call_2', content: 'two' },
  ]);
});
