import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { unlimited } from '../../../harness/batches.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import {
  addToolAgent,
  executedTool,
  loseWorker,
  scriptedTools,
  stepsOf,
} from '../../../harness/tool-agents.ts';
import { fromId } from '../../../src/core/id.ts';
import { settle, settleUnknown } from '../../../src/core/tools/call-state.ts';
import type { ToolOutcome } from '../../../src/core/tools/tool-port.ts';
import { safeSendsMax } from '../../../src/core/tools/tool-settings.ts';
import { sql } from '../../../src/db/sql.ts';
import { createStepWrites } from '../../../src/engine/tools/step-writes.ts';

const service = await startService({ tools: scriptedTools(), role: 'api' });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });

test('who has lost the claim writes no turn, dispatches nothing and settles nothing', async () => {
  const pipelines = testPipelines(service.database.connection);
  const writes = createStepWrites(pipelines);
  const agent = await addToolAgent(service, [executedTool()]);
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { text: 'go' } } },
  });
  const executionId = fromId('execution', body.executionId) ?? '';
  const worker = freshId();
  await sql`insert into workers (id, lease_until, runs_tools) values (${worker}, 'infinity', true)`.execute(
    service.db,
  );
  const claim = async () => {
    const { rows } = await sql<{ attempt: number }>`
      update execution_queue set worker = ${worker}, attempt = attempt + 1, available_at = null
      where id = ${executionId} returning attempt`.execute(service.db);
    return rows[0]?.attempt ?? 0;
  };
  const attempt = await claim();
  const call = {
    ...{ part: 1, toolCallId: freshId(), callId: 'c', name: 'act', arguments: {}, server: null },
    ...{ safe: false, state: 'ready' as const, sent: 0, result: null, isError: false },
    errorCode: null,
  };
  const turn = {
    ...{ executionId, worker, attempt, n: 1, message: '{"text":""}', calls: [call] },
    dispatched: new Map(),
    finished: {
      ...{ model: 'cueline/echo', errorCode: null, inputTokens: 1, outputTokens: 1, costUSD: 0 },
      ...{ costKnown: true, latencyMs: 1 },
    },
    spent: {
      inputTokens: 1,
      outputTokens: 1,
      costUsd: '0',
      costKnown: true,
      keptUsd: '0',
      costSource: null,
      priceId: null,
    },
  };
  assert.equal(await writes.turn({ ...turn, worker: freshId() }), null);
  assert.deepEqual(await writes.turn(turn), new Map());
  // Its commit had no response: it is written again, once.
  assert.deepEqual(await writes.turn(turn), new Map());
  const fence = { executionId, worker, n: 1, part: 1 };
  const dispatched = { ...fence, server: freshId(), tool: 'act', usedArguments: '{}' };
  const toNobody = new Map([[1, null]]);
  assert.equal(await writes.dispatch({ ...dispatched, attempt }), null);
  assert.equal((await stepsOf(service, body.executionId)).at(-1)?.[2], 'ready');
  const again = { ...dispatched, attempt: attempt + 1 };
  assert.deepEqual(await writes.dispatch(again), toNobody);
  assert.deepEqual(await writes.dispatch(again), toNobody);
  assert.deepEqual((await stepsOf(service, body.executionId)).at(-1)?.slice(2, 4), [
    ...['dispatched', 1],
  ]);
  await loseWorker(service, body.executionId);
  const next = await claim();
  const settlement = settle(call, { kind: 'done', result: 'x', isError: false });
  const settled = { ...fence, settlement };
  assert.equal(await writes.settle({ ...settled, attempt: attempt + 1 }), null);
  assert.equal(await writes.dispatch({ ...dispatched, attempt: next }), null);
  assert.equal((await stepsOf(service, body.executionId)).at(-1)?.[2], 'dispatched');
  const resent = sql`update execution_steps set sent = 2 where execution_id = ${executionId} and part = 1`;
  await assert.rejects(resent.execute(service.db), /violates check constraint/);
  await pipelines.close();
});

const outcomes = fc.constantFrom<ToolOutcome | 'lost'>(
  { kind: 'done', result: 'x', isError: false },
  { kind: 'refused', retryAfterMs: 0, problem: '' },
  { kind: 'unknown', problem: '' },
  'lost',
);

test('no order of outcomes and crashes sends a call that is not safe twice, or a safe one more than three times', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(outcomes, { maxLength: 30 }), (safe, events) => {
      let state: string = 'ready';
      let sent = 0;
      let arrived = 0;
      for (const event of events) {
        if (state !== 'ready') break;
        sent++;
        if (event === 'lost' || event.kind !== 'refused') arrived++;
        const call = { safe, sent };
        const next = event === 'lost' ? settleUnknown(call) : settle(call, event);
        state = next.state;
        if (next.givenBack) sent--;
      }
      assert.ok(arrived <= (safe ? safeSendsMax : 1));
      assert.ok(sent <= (safe ? safeSendsMax : 1));
    }),
  );
});
