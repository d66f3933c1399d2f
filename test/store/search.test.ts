import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { readSearch, separators } from '../../src/core/search.ts';
import { openDatabase } from '../../src/store/db.ts';
import { matching } from '../../src/store/history-filter.ts';
import { createTestDatabase } from '../harness/database.ts';
import { wholeHistory } from '../harness/history.ts';

const database = await createTestDatabase();
const db = openDatabase({ connection: database.connection, poolMax: 1, onError: () => {} });
after(async () => {
  await db.destroy();
  await database.drop();
});

const anyContents = {
  ...{ latencyMsMin: null, latencyMsMax: null, costUsdMin: null, costUsdMax: null },
  variables: [],
};

/** Whether a record with this output, and variables as they were sent, is found. */
async function finds(words: string, output: string | null, variables = '{}'): Promise<boolean> {
  const filter = { ...wholeHistory([]), contents: { ...anyContents, words } };
  const { rows } = await sql`
    select from (select ${output}::text as output, ${variables}::json as input_variables) as e
    where ${matching(filter)}`.execute(db);
  return rows.length === 1;
}

test('what is in lists, objects and escapes is found in variables', async () => {
  const sent = String.raw`{"note":"two\nlines\tC:\\new caf\u00e9 \"said\"","tags":["a\nb",{"in":"x\\ny"}],"n":-5}`;
  for (const words of ['two', 'lines', '"two lines"', 'new', 'c', 'café', 'CAFÉ', 'said', 'note']) {
    assert.ok(await finds(words, null, sent), words);
  }
  for (const words of ['b', '"a b"', 'in', 'ny', '"x ny"', '5', '"n -5"']) {
    assert.ok(await finds(words, null, sent), words);
  }
  for (const words of ['ew', 'nlines', 'y', '"lines two"', 'caf']) {
    assert.ok(!(await finds(words, null, sent)), words);
  }
});

test('what is nested is found however its letters were escaped', async () => {
  const sent = String.raw`{"chat":[
    {"role":"user","content":"caf\u00e9 \u201czwei\u201d \ud83d\udc4d a\u0026b C:\\u00e9 \"\u6771\u4eac\""}], "n":1e999999}`;
  for (const words of [
    'café',
    'CAFÉ',
    '"café zwei"',
    'zwei',
    '👍',
    '"a b"',
    'b',
    'u00e9',
    '東京',
  ]) {
    assert.ok(await finds(words, null, sent), words);
  }
  for (const words of ['caf', '"c é"', '201czwei', 'u201d']) {
    assert.ok(!(await finds(words, null, sent)), words);
  }
});

test('no phrase goes on from one text into the next', async () => {
  const sent = '{"name":"Ada","order":"A-1017"}';
  for (const words of ['"shipped name"', '"Ada order"', '"shipped" -ada']) {
    assert.ok(!(await finds(words, 'Order shipped', sent)), words);
  }
  for (const words of [
    'shipped',
    'name',
    'ada',
    'order',
    '"order a 1017"',
    'ada -"shipped name"',
  ]) {
    assert.ok(await finds(words, 'Order shipped', sent), words);
  }
});

test('words are whole, in any case, with the punctuation of any script around them', async () => {
  const text = 'He said: “Quick”—brown’s Ärger…最高。done';
  for (const words of [
    'quick',
    'BROWN',
    '"quick brown"',
    'ärger',
    '最高',
    'done',
    '"said quick"',
  ]) {
    assert.ok(await finds(words, text), words);
  }
  for (const words of ['qui', 'rger', '最', 'one', '"said brown"', '-quick', '...', 'no or none']) {
    assert.ok(!(await finds(words, text)), words);
  }
  assert.ok(await finds('-none', null));
});

test('a number is found behind the v of a version, and behind nothing else', async () => {
  const text = 'from v1.2.3 to V20, x7';
  for (const words of ['1.2.3', 'v1.2.3', '20', '"from v1.2.3 to"']) {
    assert.ok(await finds(words, text), words);
  }
  for (const words of ['2.3.4', '7', '-20']) assert.ok(!(await finds(words, text)), words);
});

test('a phrase is found however far back, and however often its words stood before', async () => {
  const text = `${'of the way '.repeat(15_000)} mail user@example.com`;
  assert.ok(await finds('user@example.com', text));
  assert.ok(await finds('"the way mail"', text));
  assert.ok(!(await finds('way@example.com', text)));
});

test('PostgreSQL parts words as the search does', async () => {
  const codes = Array.from({ length: 0xffff }, (_, at) => at + 1);
  const known = codes.filter((code) => code < 0xd800 || code > 0xdfff);
  const { rows } = await sql<{ code: number }>`
    select code from unnest(${known}::int[]) as code where chr(code) ~* ${`[${separators}]`}
    order by code`.execute(db);
  assert.deepEqual(
    rows.map(({ code }) => code),
    known.filter((code) => readSearch(String.fromCharCode(code)).length === 0),
  );
});

test('whatever is typed can be asked, and finds what stands there', async () => {
  const pieces = [
    'a',
    'bc',
    'or',
    'é',
    '日',
    '7',
    ' ',
    ' ',
    '"',
    '-',
    '.',
    '/',
    '\\',
    '(',
    '—',
    '\n',
  ];
  const made = fc.array(fc.constantFrom(...pieces), { maxLength: 60 });
  const joined = made.map((parts) => parts.join(''));
  // What stands in no text a caller could send.
  const any = fc
    .string({ unit: 'binary', maxLength: 100 })
    .map((text) => text.replaceAll('\0', ''));
  await fc.assert(
    fc.asyncProperty(fc.oneof(joined, any), fc.oneof(joined, any), async (words, text) => {
      const output = text.toWellFormed();
      assert.equal(await finds(words.toWellFormed(), output), holds(words.toWellFormed(), output));
    }),
    { numRuns: 500 },
  );
});

/** The same in plain code. */
function holds(words: string, text: string): boolean {
  const joined = (parts: readonly string[]) => ` ${parts.join(' ').toLowerCase()} `;
  const standing = joined(text.split(new RegExp(`[${separators}]+`, 'u')));
  return readSearch(words).some((phrases) =>
    phrases.every(({ words: asked, excluded }) => {
      const version =
        /^[0-9]/.test(asked[0] ?? '') && standing.includes(joined(asked).replace(' ', ' v'));
      return (standing.includes(joined(asked)) || version) !== excluded;
    }),
  );
}
