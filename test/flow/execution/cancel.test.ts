import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { addAgent } from '../../../harness/agents.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import { coldProgress } from '../../../harness/workflow-engine.ts';
import { fromId } from '../../../src/core/id.ts';
import { createCanceler } from '../../../src/flow/execution/cancel.ts';
import { createFinisher } from '../../../src/flow/execution/finish.ts';

const service = await startService({ role: 'api' });
after(service.close);
const pipelines = testPipelines(service.database.connection);
after(() => pipelines.close());
const { key } = await service.key();
const agent = await addAgent(service, { user: 'x', config: { maxConcurrency: 1 } });

test('many executions are looked for in one statement, and those that have ended are told apart', async () => {
  const ids = await Promise.all(
    [1, 2, 3].map(async () => {
      const { body } = await service.call('POST', `${agent.path}/execute`, {
        ...{ key, body: { variables: {} } },
      });
      return fromId('execution', body.executionId) ?? '';
    }),
  );
  let statements = 0;
  const db = service.db.withPlugin({
    transformQuery: ({ node }) => {
      statements++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const finisher = createFinisher({
    ...coldProgress(),
    ...{
      pipelines,
      singlePipelines: pipelines,
      onProgress: () => {},
      onEnded: () => {},
      onQueued: () => {},
    },
  });
  const template = async () => ({ system: null, user: 'Hello {{name}}' });
  const canceler = createCanceler({ db, finisher, template, onExecutionCanceled: () => {} });
  assert.equal(await canceler.cancel(ids[1] ?? ''), true);
  statements = 0;
  assert.deepEqual(await canceler.cancelAll([...ids, freshId()]), [true, false, true, false]);
  assert.equal(statements, 1);
});

test('of runs that have begun the prompts are kept, of many a few at a time, and where they cannot be made none', async () => {
  const free = await addAgent(service, { user: 'x' });
  const ids = await Promise.all(
    Array.from({ length: 45 }, async (_, n) => {
      const { body } = await service.call('POST', `${free.path}/execute`, {
        ...{ key, body: { variables: { name: n } } },
      });
      return fromId('execution', body.executionId) ?? '';
    }),
  );
  await sql`update execution_queue set started_at = clock_timestamp() where id = any(${ids}::uuid[])`.execute(
    service.db,
  );
  const finisher = createFinisher({
    ...coldProgress(),
    ...{
      pipelines,
      singlePipelines: pipelines,
      onProgress: () => {},
      onEnded: () => {},
      onQueued: () => {},
    },
  });
  let asked = 0;
  const template = async () => {
    // Those of the second twenty.
    if (++asked > 20 && asked <= 40) throw new Error('not now');
    return { system: null, user: 'Hello {{name}}' };
  };
  const parts = { db: service.db, finisher, template, onExecutionCanceled: () => {} };
  const canceled = await createCanceler(parts).cancelAll(ids);
  assert.ok(canceled.every(Boolean));
  const { rows } = await sql<{ userPrompt: string | null }>`
    select user_prompt from executions where id = any(${ids}::uuid[]) and status = 'canceled'`.execute(
    service.db,
  );
  assert.equal(rows.length, 45);
  assert.equal(rows.filter(({ userPrompt }) => /^Hello \d+$/.test(userPrompt ?? '')).length, 25);
});
