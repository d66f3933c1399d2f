import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  columnsFrom,
  draftChoice,
  nextToCompare,
  type PlaygroundColumn,
  versionsOf,
  withChoice,
  withColumn,
  withDraft,
} from '../../dashboard/data/prompts/playground-columns.ts';
import { toId, uuid7 } from '../../src/core/id.ts';

const [v1 = '', v2 = '', v3 = ''] = [1, 2, 3].map((ms) => toId('version', uuid7(ms * 1_000)));
const newestFirst = [v3, v2, v1];
const choices = (columns: readonly PlaygroundColumn[]) => columns.map(({ choice }) => choice);
const unchanged = { isChanged: false, baseId: v3 };

test('the columns of a URL are in the order of their versions, with the draft last', () => {
  assert.deepEqual(choices(columnsFrom(undefined)), [draftChoice]);
  assert.deepEqual(choices(columnsFrom(`${draftChoice},${v2},${v1}`)), [v1, v2, draftChoice]);
  assert.deepEqual(choices(columnsFrom(`${v3},${v2},${v1},${draftChoice}`)), [v1, v2, v3]);
  assert.equal(versionsOf(columnsFrom(undefined)), undefined);
  assert.equal(versionsOf(columnsFrom(`${v2},${v1}`)), `${v1},${v2}`);
});

test('a comparison adds the newest version that is not shown, then the newest again', () => {
  let columns: readonly PlaygroundColumn[] = columnsFrom(undefined);
  for (const expected of [
    [v2, draftChoice],
    [v1, v2, draftChoice],
  ]) {
    columns = withColumn(columns, nextToCompare(columns, newestFirst, unchanged));
    assert.deepEqual(choices(columns), expected);
  }
  assert.equal(nextToCompare(columns, newestFirst, unchanged), v3);
  assert.deepEqual(withColumn(columns, v3), columns);
  const changed = { isChanged: true, baseId: v3 };
  assert.equal(nextToCompare(columnsFrom(v3), newestFirst, changed), draftChoice);
  assert.equal(nextToCompare(columnsFrom(undefined), newestFirst, changed), v3);
});

test('a column keeps its slot when its place changes', () => {
  const columns = columnsFrom(`${v1},${v2}`);
  const slot = columns[0]?.slot ?? 0;
  const moved = withChoice(columns, slot, v3);
  assert.deepEqual(choices(moved), [v2, v3]);
  assert.equal(moved[1]?.slot, slot);
  const others = moved.filter((one) => one.slot !== slot);
  assert.equal(withColumn(others, v1)[0]?.slot, slot);
});

test('an edit shows in the column of the version that it is based on, else in a new one', () => {
  assert.deepEqual(choices(withDraft(columnsFrom(`${v1},${v3}`), v3)), [v1, draftChoice]);
  assert.deepEqual(choices(withDraft(columnsFrom(`${v1},${v2}`), v3)), [v1, v2, draftChoice]);
  const full = columnsFrom(`${v1},${v2},${v3}`);
  assert.deepEqual(choices(withDraft(full, null)), [v1, v2, draftChoice]);
  const shown = columnsFrom(`${v1},${draftChoice}`);
  assert.equal(withDraft(shown, v1), shown);
});
