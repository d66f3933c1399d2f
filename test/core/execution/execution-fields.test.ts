import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownFields } from '../../../src/core/execution/shown-fields.ts';

test('each column of CSV has a position of its own, without gaps', () => {
  const positions = shownFields.flatMap(({ csv }) => csv ?? []);
  assert.deepEqual(
    positions.toSorted((one, other) => one - other),
    positions.map((_, index) => index + 1),
  );
});
