import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as limits from '../../src/http/contract/contract-limits.ts';

/** The docs name every limit: in the OpenAPI document as the bound of a field, else in prose. */

const docs = join(import.meta.dirname, '../../docs');
const read = (page: string) => readFileSync(join(docs, page), 'utf8').replaceAll(/\s+/g, ' ');

/** Texts of the pages, with the names of limits in place of their values. */
const texts: Readonly<Record<string, readonly string[]>> = {
  'api.md': [
    '| any other body | {bodyBytesMax} bytes |',
    'calls of the OpenAI API without a stream | {waitsMax} |',
    'streamed calls of the OpenAI API | {streamsMax} |',
    'calls of tools over MCP | {toolCallsMax} |',
    'uploads of batches | {uploadsMax} |',
    'downloads of batch results | {resultsMax} |',
    '| exports | {exportsMax} |',
    'pages of records that are too long for memory | {longPagesMax} |',
    'lists, searches and statistics | {historyReadsMax} | 503 after {historyReadWaitMs:seconds} seconds |',
    'latency, cost or `providerRequestId` | {searchesMax} |',
    'reads and applies of declarations | {declarationsMax} | 503 after {declarationWaitMs:seconds} seconds |',
    'lists of their models | {providerTestsMax} |',
    '`CUELINE_DATABASE_POOL` | 503 after {connectionWaitMs:seconds} seconds |',
    '| duration of an export or long page | {streamMsMax:hours} hour |',
    '| characters that `q` searches per record | {searchedCharactersMax} |',
    '| filters by `variables.NAME`; agents of statistics | {variableFiltersMax}; {statisticsAgentsMax} |',
    '| statistics: steps; buckets; stored rows; by user, tag or metadata; records by user and tag | {statisticsIntervalsMax}; {statisticsBucketsMax}; {statisticsRowsMax}; {statisticsLabelRowsMax}; {statisticsRecordsMax} |',
    '| statistics: values with a bucket; days of minutes | {statisticsValuesMax}; {statisticsMinuteDays} |',
    'saved views of a member | 20; 100; {viewsMax} | 400 |',
    '| items of a step in a workflow run; runs that are counted | {runItemsMax}; {runsCountedMax} |',
    'A comment every {streamHeartbeatMs:seconds} seconds',
  ],
  'batches.md': ['{uploadsMax:Word} uploads per process'],
  'clients.md': [
    'at most {modelsListMax}',
    '| {toolCallsMax} calls that wait for results',
    '| {mcpMessagesMax} messages per batch',
    '| {mcpResponseBytesMax:MiB} MiB of results per response',
    '| {mcpProgressBytesMax:MiB} MiB of messages about progress',
    '| {toolResultBytesMax:MiB} MiB of text per result',
    '| {toolsPageMax} tools or {toolsPageBytesMax:MiB} MiB per page',
  ],
  'events.md': ['up to {previewDaysMax} days'],
  'tools.md': ['by default {toolTimeoutMsDefault} |', 'by default {resultLimitDefault} |'],
  'operations/scale.md': ['of the {historyReadsMax:word}'],
};

const units: Readonly<Record<string, (value: number) => string>> = {
  seconds: (value) => String(value / 1_000),
  hours: (value) => String(value / 3_600_000),
  MiB: (value) => String(value / 1_048_576),
  word: (value) =>
    ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'][value] ?? '',
  Word: (value) => (value === 8 ? 'Eight' : ''),
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
