import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from '../../../src/features/tools/rules/tool-outcome.ts';

const options = { resultLimit: 1_024, timeoutMs: 2_000, nowMs: 0, hide: (text: string) => text };

test('an answer that did not end in time is unknown for its time, and an error for what came', () => {
  const late = (status: number) =>
    outcomeOf(
      {
        ...{ kind: 'answered', status, retryAfter: null, end: 'late' },
        ...{ bytes: Buffer.from('half'), length: 4 },
      },
      options,
    );
  const problem = 'The tool server did not answer within 2000 ms.';
  assert.deepEqual(late(200), { kind: 'unknown', problem });
  const result = 'The tool server answered 400: half\n[The rest of the answer could not be read.]';
  assert.deepEqual(late(400), { kind: 'done', result, isError: true });
});
