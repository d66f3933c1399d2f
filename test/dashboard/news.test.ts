import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countNews } from '../../dashboard/data/executions/news.ts';
import { toId, uuid7 } from '../../src/core/id.ts';

const at = (ms: number) => ({
  executedAt: new Date(ms).toISOString(),
  executionId: toId('execution', uuid7(ms)),
});
const newestFirst = (ms: number, count: number) =>
  Array.from({ length: count }, () => at(ms)).sort((a, b) =>
    a.executionId < b.executionId ? 1 : -1,
  );
const page = (executions: readonly ReturnType<typeof at>[], hasMore: boolean) => ({
  executions,
  pagination: { hasMore },
});

test('executions that share the time of the first row, but follow it, are no news', () => {
  const rows = newestFirst(1_000, 150);
  assert.deepEqual(countNews(page(rows.slice(0, 100), true), rows[0]), { count: 0, isMore: false });
  // Those with the same time and a higher id are.
  assert.deepEqual(countNews(page(rows.slice(0, 100), true), rows[3]), { count: 3, isMore: false });
});

test('counts what is newer than the first row, and says when there is more', () => {
  const [first] = newestFirst(1_000, 1);
  const news = newestFirst(2_000, 100);
  assert.deepEqual(
    countNews(page([...news.slice(0, 2), ...(first ? [first] : [])], false), first),
    {
      ...{ count: 2, isMore: false },
    },
  );
  assert.deepEqual(countNews(page(news, true), first), { count: 100, isMore: true });
  assert.deepEqual(countNews(page(news, false), first), { count: 100, isMore: false });
});

test('in an empty list everything is new', () => {
  assert.deepEqual(countNews(page(newestFirst(1_000, 2), false), undefined), {
    ...{ count: 2, isMore: false },
  });
  assert.deepEqual(countNews(undefined, undefined), { count: 0, isMore: false });
});
