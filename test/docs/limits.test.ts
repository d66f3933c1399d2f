import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as limits from '../../src/contract/limits.ts';

/** The docs name every limit: in the OpenAPI document as the bound of a field, else in prose. */

const docs = join(import.meta.dirname, '../../docs');
const read = (page: string) => readFileSync(join(docs, page), 'utf8').replaceAll(/\s+/g, ' ');

/** Texts of the pages, with the names of limits in place of their values. */
const texts: Readonly<Record<string, readonly string[]>> = {
  'api.md': [
    '| body | {bodyBytesMax} bytes |',
    '| waits of a key or user; of a process | {waitsOfCallerMax}; {waitsMax} |',
    '| streams of a key or user; of a process | {streamsOfCallerMax}; {streamsMax} |',
    '| exports at once of a key or user; of a workspace; of a process | {exportsOfCallerMax}; {exportsOfWorkspaceMax}; {exportsMax} |',
    '| lists, searches and statistics at once of a key or user; of a workspace | {historyReadsOfCallerMax}, {searchesOfCallerMax:word} of them a search; {historyReadsOfWorkspaceMax} | 503 after {historyReadWaitMs:seconds} seconds |',
    '| long pages at once of a workspace; of a process | {longPagesOfWorkspaceMax}; {longPagesMax} |',
    '| duration of an export or long page | {streamMsMax:hours} hour |',
    '| characters that `q` searches per record | {searchedCharactersMax} |',
    '| filters by `variables.NAME`; agents of statistics | {variableFiltersMax}; {statisticsAgentsMax} |',
    '| statistics: steps; buckets; stored rows; by user, tag or metadata | {statisticsIntervalsMax}; {statisticsBucketsMax}; {statisticsRowsMax}; {statisticsLabelRowsMax} |',
    '| statistics: values with a bucket; days of minutes | {statisticsValuesMax}; {statisticsMinuteDays} |',
    'views of a member | 100; 100 each; {viewsMax} |',
    '| items of a step in a workflow run; runs that are counted | {runItemsMax}; {runsCountedMax} |',
    'A comment every {streamHeartbeatMs:seconds} seconds',
    '| downloads of batch results at once of a key or user; of a workspace; of a process | {resultsOfCallerMax}; {resultsOfWorkspaceMax}; {resultsMax} |',
  ],
  'batches.md': [
    'At most {uploadsMax:word} uploads per process and {uploadsOfCallerMax:word} per key',
  ],
  'clients.md': [
    'at most {modelsListMax}',
    '| {openToolCallsOfKeyMax} calls of a key',
    '| {toolResultBytesMax:MiB} MiB of text per result',
    '| {toolsPageMax} tools or {toolsPageCharsMax:MiB} MiB per page',
  ],
  'events.md': ['up to {previewDaysMax} days'],
  'operations.md': ['the last {historyReadsReserved:word} of the {historyReadsMax:word}'],
};

const units: Readonly<Record<string, (value: number) => string>> = {
  seconds: (value) => String(value / 1_000),
  hours: (value) => String(value / 3_600_000),
  MiB: (value) => String(value / 1_048_576),
  word: (value) =>
    ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'][value] ?? '',
};

const values = new Map<string, number>(Object.entries(limits));
const named = new Set<string>();

function withValues(text: string): string {
  return text.replaceAll(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, unit = '') => {
    named.add(name);
    const value = values.get(name) ?? Number.NaN;
    return units[unit]?.(value) ?? value.toLocaleString('en');
  });
}

const expected = Object.entries(texts).map(([page, parts]) => ({
  page,
  parts: parts.map(withValues),
}));

for (const { page, parts } of expected) {
  test(`${page} names its limits`, () => {
    const text = read(page);
    assert.deepEqual(
      parts.filter((part) => !text.includes(part)),
      [],
    );
  });
}

const bounds = /^(min|max)(imum|Length|Items|Properties)$|^default$/;

/** The values of all bounds of fields in the OpenAPI document. */
function boundsIn(node: unknown): number[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    typeof value === 'number' && bounds.test(key) ? [value] : boundsIn(value),
  );
}

test('every other limit is the bound of a field', () => {
  const found = new Set(boundsIn(JSON.parse(read('openapi.json'))));
  const others = [...values].filter(([name]) => !named.has(name));
  assert.deepEqual(
    others.filter(([, value]) => !found.has(value)),
    [],
  );
});
