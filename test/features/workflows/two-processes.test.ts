import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { addWorkflow, endOfRun, startRun, step, withText } from '../../../harness/workflow-runs.ts';
import { sql } from '../../../src/db/sql.ts';

/** One process starts the workflow runs, two others execute them. */
const api = await startService({ role: 'api' });
const workers = [await startService({ sharedWith: api }), await startService({ sharedWith: api })];
after(async () => {
  for (const worker of workers) await worker.close();
  await api.close();
});
const { key } = await api.key();

test('workflow runs advance in the process that executes a step, and waiting callers elsewhere are notified', async () => {
  const agent = await addAgent(api, { user: '{{text}}', config: { maxConcurrency: 3 } });
  const workflow = await addWorkflow(api, {
    steps: [
      step({ name: 'split', agent, ...withText('[1, 2, 3, {{input.n}}]') }),
      step({
        name: 'each',
        agent,
        forEach: { list: '{{steps.split.output}}', concurrency: 2 },
        ...withText('<{{item}}>'),
      }),
      step({ name: 'end', agent, ...withText('{{steps.each.output}}') }),
    ],
  });
  const numbers = Array.from({ length: 15 }, (_, n) => n);
  const outputs = await Promise.all(
    numbers.map(async (n) => {
      const runId = await startRun(api, workflow, key, { n });
      return (await endOfRun(api, workflow, runId)).output;
    }),
  );
  assert.deepEqual(
    outputs,
    numbers.map((n) => `["<1>","<2>","<3>","<${n}>"]`),
  );
  const { rows } = await sql<{ executions: number; called: number; distinct: number }>`
    select (select count(*) from executions) as executions, count(execution_id) as called,
      count(distinct execution_id) as distinct from workflow_steps`.execute(api.db);
  const calls = numbers.length * 6;
  assert.deepEqual(rows, [{ executions: calls, called: calls, distinct: calls }]);
});
