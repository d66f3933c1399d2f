import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeOf } from '../../dashboard/data/analytics/metrics.ts';

test('a rate changes by percentage points, everything else by percent', () => {
  assert.deepEqual(changeOf('failures', 0.024, 0.02), { text: '+0.4 pp', direction: 1 });
  assert.deepEqual(changeOf('failures', 0.1, 0.25), { text: '\u221215 pp', direction: -1 });
  assert.deepEqual(changeOf('failures', 0.5, 0), { text: '+50 pp', direction: 1 });
  assert.deepEqual(changeOf('failures', 0.02, 0.02), { text: '0 pp', direction: 0 });
  assert.deepEqual(changeOf('executions', 112, 100), { text: '+12%', direction: 1 });
  assert.deepEqual(changeOf('cost', 1, 2), { text: '\u221250%', direction: -1 });
  assert.deepEqual(changeOf('tokens', 1_234, 100), { text: '+1,134%', direction: 1 });
});

test('what has no value before has no change', () => {
  assert.equal(changeOf('failures', 0.5, null), null);
  assert.equal(changeOf('cost', 5, 0), null);
});
