import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ended } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import {
  addToolAgent,
  calling,
  executedTool,
  scriptedTools,
} from '../../../harness/tool-agents.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService({ tools: scriptedTools() });
after(service.close);

test('the calls of a turn begin when it ends, not before', async () => {
  const { key } = await service.key();
  const agent = await addToolAgent(service, [executedTool()]);
  service.models.script(calling(['act', {}], ['act', {}], ['unknown', {}]), { text: 'Done.' });
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { text: 'go' } } },
  });
  await ended(service, body.statusUrl, key);
  const { rows } = await sql<{ isAtEnd: boolean }>`
    select coalesce(c.dispatched_at, c.ended_at) = m.ended_at as is_at_end
    from execution_steps m join execution_steps c using (execution_id, n)
    where m.execution_id = ${fromId('execution', body.executionId)} and m.part = 0 and c.part > 0`.execute(
    service.db,
  );
  assert.deepEqual(rows, Array(3).fill({ isAtEnd: true }));
});
