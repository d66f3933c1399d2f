import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fromId, uuid7 } from '../../src/core/id.ts';
import { createCanceler } from '../../src/flow/cancel.ts';
import { createFinisher } from '../../src/flow/finish.ts';
import { openPipelines } from '../../src/store/pipeline.ts';
import { addAgent } from '../harness/agents.ts';
import { startService } from '../harness/service.ts';
import { coldProgress } from '../harness/workflow-engine.ts';

const service = await startService({ role: 'api' });
after(service.close);
const pipelines = openPipelines({
  connection: service.database.connection,
  answerTimeoutMs: 30_000,
  onError: () => {},
});
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
    ...{ pipelines, onProgress: () => {}, onEnded: () => {}, onQueued: () => {} },
  });
  const template = async () => ({ system: null, user: 'Hello {{name}}' });
  const canceler = createCanceler({ db, finisher, template, onCanceled: () => {} });
  assert.equal(await canceler.cancel(ids[1] ?? ''), true);
  statements = 0;
  assert.deepEqual(await canceler.cancelAll([...ids, uuid7(Date.now())]), [
    true,
    false,
    true,
    false,
  ]);
  assert.equal(statements, 1);
});
