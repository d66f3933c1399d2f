import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import { interceptedDb } from '../../../harness/silent-db.ts';
import { coldProgress } from '../../../harness/workflow-engine.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { createCanceler } from '../../../src/engine/complete/cancel.ts';
import { createFinisher } from '../../../src/engine/complete/finish.ts';

const service = await startService({ role: 'api' });
after(service.close);
const pipelines = testPipelines(service.database.connection);
after(() => pipelines.close());
const { key } = await service.key();
const agent = await addAgent(service, { user: 'x', config: { maxConcurrency: 1 } });
test('cancelAll looks up many executions in one statement and reports those that had ended', async () => {
  const ids = await Promise.all(
    [1, 2, 3].map(async () => {
      const { body } = await service.call('POST', `${agent.path}/execute`, {
        ...{ key, body: { variables: {} } },
      });
      return fromId('execution', body.executionId) ?? '';
    }),
  );
  let statements = 0;
  const db = interceptedDb(service.db, (statement, run) => {
    statements++;
    return run(statement);
  });
  const finisher = createFinisher({
    ...coldProgress(),
    ...{ pipelines, singlePipelines: pipelines },
  });
  const template = async () => ({ system: null, user: 'Hello {{name}}' });
  const canceler = createCanceler({ db, finisher, template });
  assert.equal(await canceler.cancel(ids[1] ?? ''), true);
  statements = 0;
  assert.deepEqual(await canceler.cancelAll([...ids, freshId()]), [true, false, true, false]);
  assert.equal(statements, 1);
});

test('cancelAll records the prompts of started executions in batches, and none if rendering fails', async () => {
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
    ...{ pipelines, singlePipelines: pipelines },
  });
  let rendered = 0;
  const template = async () => {
    // Fails for the second batch of twenty.
    if (++rendered > 20 && rendered <= 40) throw new Error('not now');
    return { system: null, user: 'Hello {{name}}' };
  };
  const deps = { db: service.db, finisher, template };
  const canceled = await createCanceler(deps).cancelAll(ids);
  assert.ok(canceled.every(Boolean));
  const { rows } = await sql<{ userPrompt: string | null }>`
    select user_prompt from executions where id = any(${ids}::uuid[]) and status = 'canceled'`.execute(
    service.db,
  );
  assert.equal(rows.length, 45);
  assert.equal(rows.filter(({ userPrompt }) => /^Hello \d+$/.test(userPrompt ?? '')).length, 25);
});
