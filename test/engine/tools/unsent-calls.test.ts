import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshId } from '../../../harness/fresh-id.ts';
import { executedTool, scriptedTools } from '../../../harness/tool-agents.ts';
import { ByteShares } from '../../../src/core/byte-shares.ts';
import type { QueuedExecution } from '../../../src/core/execution/queued-execution.ts';
import { plannedCalls } from '../../../src/core/tools/call-state.ts';
import type { SettledCall } from '../../../src/engine/tools/step-writes.ts';
import { callTools } from '../../../src/engine/tools/tool-calls.ts';

/** Calls that the commit of their turn has dispatched, and that must not leave any more. */

const unused = () => assert.fail();

async function callWith({ isAborted = false, leftMs = 60_000 }) {
  const tools = scriptedTools();
  const settled: SettledCall[] = [];
  const executionId = freshId();
  const used = [executedTool()];
  const calls = plannedCalls(
    { executionId, n: 1 },
    [{ id: 'call_1', name: 'act', arguments: {} }],
    ...[used, null],
  );
  const execution = {
    ...{ id: executionId, worker: freshId(), attempt: 2, rejections: 0, waitCode: null },
    ...{ settings: { timeoutMs: 60_000 }, labels: {} },
  } as unknown as QueuedExecution;
  const bytes = new ByteShares(1_000_000);
  const { outcome } = await callTools(
    {
      ...{ tools, bytes, onError: assert.ifError },
      reads: { chars: unused, turns: unused },
      writes: {
        ...{ turn: unused, dispatch: unused },
        async settle(call) {
          settled.push(call);
          return true;
        },
      },
    },
    {
      signal: isAborted ? AbortSignal.abort() : new AbortController().signal,
      ...{ isHeld: () => true, advance: unused, reservations: [] },
    },
    { execution, n: 1, calls, tools: used, leftMs, dispatched: new Map([[1, null]]) },
  );
  const states = settled.map(({ settlement: { state, givenBack } }) => [state, givenBack]);
  return { outcome, states, sent: tools.requests.length };
}

test('a call that a drain or a cancel comes before is given back', async () => {
  const { outcome, states, sent } = await callWith({ isAborted: true });
  assert.deepEqual([outcome?.kind, states, sent], ['stopped', [['ready', true]], 0]);
});

test('a call that the deadline comes before is given back, and the execution ends', async () => {
  const { outcome, states, sent } = await callWith({ leftMs: 0 });
  assert.deepEqual([states, sent], [[['ready', true]], 0]);
  assert.ok(outcome?.kind === 'ended');
  assert.equal(outcome.errorCode, 'MODEL_TIMEOUT');
});
