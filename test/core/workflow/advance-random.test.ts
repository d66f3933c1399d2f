import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { advance } from '../../../src/core/workflow/advance.ts';
import { graphOf } from '../../../src/core/workflow/step-graph.ts';
import { withinOutput } from '../../../src/core/workflow/step-output.ts';
import {
  isOver,
  keyOf,
  type RunEnd,
  type StepEvent,
  type StepState,
} from '../../../src/core/workflow/step-state.ts';
import {
  definitionOf,
  expected,
  fateOf,
  modelInput,
  type Plan,
  plans,
  textOf,
} from './reference-model.ts';
import { briefOf, readMore, wholeOf } from './run-state-of.ts';

/** Executes a workflow run in memory. Ready steps are called; calls end in random order, some in the same batch. */
function runWorkflow(plan: readonly Plan[], choice: () => number) {
  const definition = definitionOf(plan);
  const rows = new Map<string, StepState>();
  const called: string[] = [];
  let end: RunEnd | null = null;
  let calls = 0;

  const step = (events: StepEvent[]) => {
    const states = [...rows.values()];
    const whole = wholeOf(modelInput, states);
    // Reads like the store: a brief state first, then the missing values.
    let state = briefOf(states, events);
    let result = advance(definition, state, events);
    for (let reads = 0; result.kind === 'missing'; reads++) {
      assert.ok(
        reads <= definition.steps.length + states.length,
        'each read returns the missing values',
      );
      state = readMore(state, result.missing, whole);
      result = advance(definition, state, events);
    }
    assert.deepEqual(
      result,
      advance(definition, whole, events),
      'equals the result with all values read',
    );
    assert.ok(result.kind === 'advanced');
    for (const row of result.changed) {
      const before = rows.get(keyOf(row));
      assert.ok(!before || !isOver(before), 'an ended step does not change');
      rows.set(keyOf(row), row);
    }
    end = result.end;
  };

  step([]);
  while (end === null) {
    const open = [...rows.values()].filter((row) => row.itemsCount === null && !isOver(row));
    assert.ok(open.length > 0, 'a live workflow run has open steps');
    const batch = open.sort(() => choice() - 0.5).slice(0, 1 + Math.floor(choice() * 3));
    const events: StepEvent[] = [];
    for (const row of batch) {
      const own = plan.find(({ name }) => name === row.step);
      assert.ok(own);
      checkMayRun(row, own);
      const fate = fateOf(own, row.item, row.fallback);
      const base = { step: row.step, item: row.item, fallback: row.fallback };
      if (fate === 'refused') {
        called.push(`${keyOf(row)} ${row.fallback}`);
        events.push({
          ...base,
          executionId: null,
          outcome: { kind: 'failed', code: 'QUOTA_EXCEEDED', error: 'No.' },
        });
      } else if (row.status === 'ready') {
        called.push(`${keyOf(row)} ${row.fallback}`);
        const executionId = `e${calls++}`;
        rows.set(keyOf(row), { ...row, status: 'processing', variables: null, executionId });
      } else {
        const outcome =
          fate === 'success'
            ? ({ kind: 'success', text: textOf(row.step, row.item, row.fallback) } as const)
            : ({ kind: 'failed', code: 'PROVIDER_ERROR', error: 'Broken.' } as const);
        events.push({ ...base, executionId: row.executionId, outcome });
      }
    }
    if (events.length > 0) step(events);
  }
  return { rows, called, end: end as RunEnd, definition };

  function checkMayRun(row: StepState, own: Plan): void {
    for (const name of [...own.refers, ...own.after]) {
      const waited = rows.get(`${name} -1`);
      assert.ok(waited && isOver(waited), `${row.step} waits for ${name}`);
    }
    const inProgress = [...rows.values()].filter(
      (one) => one.step === row.step && one.item >= 0 && !isOver(one),
    );
    assert.ok(inProgress.length <= own.concurrency, 'concurrency is respected');
  }
}

test('a workflow run equals the reference model for any order of ends', () => {
  fc.assert(
    fc.property(
      plans,
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      (plan, choices) => {
        const { rows, called, end, definition } = runWorkflow(
          plan,
          () => choices.next().value as number,
        );
        const model = expected(plan);
        assert.equal(new Set(called).size, called.length, 'each call is made once');
        const fatal = plan.filter(
          ({ name, onFailure }) => onFailure === 'fail' && model.get(name)?.status === 'failed',
        );
        if (fatal.length > 0) {
          assert.ok(end.status === 'failed');
          assert.equal(end.errorCode, 'STEP_FAILED');
          assert.ok(fatal.some(({ name }) => name === end.failedStep));
        } else {
          assert.equal(end.status, 'success');
          for (const { name } of plan) {
            const row = rows.get(`${name} -1`);
            const wanted = model.get(name);
            assert.equal(row?.status, wanted?.status, name);
            assert.deepEqual(
              row?.output == null ? null : JSON.parse(withinOutput(row.output)),
              wanted?.output,
              name,
            );
          }
          assert.deepEqual(JSON.parse(end.output), lastOutputs(rows, graphOf(definition).last));
        }
        // Steps that ended before the run match the model too.
        for (const row of rows.values()) {
          if (row.item >= 0 || !isOver(row) || row.status === 'canceled') continue;
          assert.equal(row.status, model.get(row.step)?.status, row.step);
        }
      },
    ),
    { numRuns: 500 },
  );
});

function lastOutputs(rows: ReadonlyMap<string, StepState>, last: readonly string[]): unknown {
  const of = (name: string) => JSON.parse(rows.get(`${name} -1`)?.output ?? 'null') as unknown;
  if (last.length === 1) return of(last[0] ?? '');
  return Object.fromEntries(last.map((name) => [name, of(name)]));
}
