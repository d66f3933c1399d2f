import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call } from '../../../src/cli/client/run-call.ts';
import { runExamples } from '../../../src/cli/client/run-examples.ts';

test('at most so many executions run at the same time, and the results have the order of the file', async () => {
  const waiting: (() => void)[] = [];
  let [open, most] = [0, 0];
  const cueline = {
    execute: async (_: string, { n }: { n: number }) => ({ executionId: String(n) }),
    wait: async (_: string, executionId: string) => {
      most = Math.max(most, ++open);
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length < 3 && executionId !== '6') return;
        // The last one that could start ends first.
        for (const end of waiting.splice(0).reverse()) end();
      });
      open--;
      return { status: 'success', outputText: executionId };
    },
  };
  const examples = Array.from({ length: 7 }, (_, n) => ({
    ...{ name: `example ${n}`, line: n, variables: { n }, expect: { equals: String(n) } },
  }));
  const agent = { name: 'A', prompt: 'P', version: 'v1' };
  const call = { cueline, signal: new AbortController().signal } as unknown as Call;
  const results = await runExamples(
    ...[call, [{ agent, examples }], { slugs: new Map([['A', 'a']]) }],
    { concurrency: 3, timeoutMs: 1_000 },
  );
  assert.equal(most, 3);
  assert.deepEqual(
    results.map(({ line, status }) => [line, status]),
    examples.map(({ line }) => [line, 'passed']),
  );
});
