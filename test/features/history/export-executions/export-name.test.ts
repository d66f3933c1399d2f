import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportName } from '../../../../src/features/history/routes/export-name.ts';

const day = new Date('2026-11-26T23:59:59Z');

const names: [query: object, name: string][] = [
  [{}, 'executions_20261126'],
  [{ format: 'csv', bom: true, cursor: 'exe_1', workspace: 'wsp_1' }, 'executions_20261126'],
  [
    { status: ['failed', 'canceled'], errorCode: ['MODEL_TIMEOUT'] },
    'executions_failed-canceled_MODEL_TIMEOUT_20261126',
  ],
  [
    { startDate: '2026-11-25', endDate: '2026-11-25T22:59:59.999Z', user: ['a/../b'] },
    'executions_from-2026-11-25_until-2026-11-25T22-59-59.999Z_user-a-..-b_20261126',
  ],
  [{ q: '"été" 日本', latencyMsMin: 5 }, 'executions_e-te_latencyMsMin-5_20261126'],
  [{ executionId: ['exe_1', 'exe_2'] }, 'executions_2-selected_20261126'],
];
for (const [query, name] of names) {
  test(`names a file ${name}`, () => assert.equal(exportName('executions', query, day), name));
}

test('a name fits into every file system', () => {
  const long = Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [`variables.v${n}`, 'x'.repeat(1_000)]),
  );
  assert.ok(exportName('executions-agt_01', long, day).length <= 200);
});
