import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { runAsAdmin } from '../../../harness/cluster.ts';
import { openTestDatabase } from '../../../harness/database.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { firstHundred } from '../../../harness/history.ts';
import { readsOfTable } from '../../../harness/table-reads.ts';
import { everything, type IdRange } from '../../../src/core/history/history-range.ts';
import { readSearch, separators, standalone } from '../../../src/core/history/search.ts';
import { tokenOf, tokensOf, tokensOfSearch } from '../../../src/core/history/search-tokens.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { patternOf } from '../../../src/db/spelling-pattern.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  matchesFilter,
  searchedText,
} from '../../../src/features/history/statements/history-filter.ts';
import {
  findCandidates,
  indexChanges,
} from '../../../src/features/history/statements/search-index.ts';

const { connection, db, close } = await openTestDatabase(1);
after(close);

const anyContents = {
  ...{ latencyMsMin: null, latencyMsMax: null, costUsdMin: null, costUsdMax: null, labels: [] },
  ...{ providerRequestId: null, variables: [] },
};

/**
 * Whether the search finds a record with this output and these variables. Whatever it finds must have the tokens under which
 * the search index finds it.
 */
async function finds(
  words: string,
  output: string | null,
  variables = '{}',
  handle = db,
): Promise<boolean> {
  const filter = { ...firstHundred([]), contents: { ...anyContents, words } };
  const { rows } = await sql<{ text: string }>`
    select ${searchedText} as text
    from (select ${output}::text as output, null::text as partial_text, ${variables}::json as input_variables) as e
    where ${matchesFilter(filter)}`.execute(handle);
  const [found] = rows;
  if (!found) return false;
  const has = tokensOf(found.text);
  const sets = tokensOfSearch(words);
  assert.ok(sets?.some((set) => set.every((token) => has.has(token))) ?? true, words);
  return true;
}

test('the search finds words in lists, objects and escapes of variables', async () => {
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

test('the search finds nested words, however their characters are escaped', async () => {
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

test('no phrase matches across two texts', async () => {
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

test('whole words match, ignoring case, next to punctuation of any script', async () => {
  const text = 'He said: “Quick”—brown’s Ärger…最高。done';
  for (const words of [
    'quick',
    'BROWN',
    '"quick brown"',
    'ärger',
    '最高',
    '最',
    'done',
    '"said quick"',
  ]) {
    assert.ok(await finds(words, text), words);
  }
  for (const words of ['qui', 'rger', '低', 'one', '"said brown"', '-quick', '...', 'no or none']) {
    assert.ok(!(await finds(words, text)), words);
  }
  assert.ok(await finds('-none', null));
});

test('words match next to any symbol, and anywhere in scripts without spaces', async () => {
  const cases = [
    ['costs €100, ₹500 or ฿700', '100', '500', '700', '€100'],
    ['Done✅ fine, great👍🏽so ⚠️ok ✓yes 1️⃣st', 'done', 'great', 'so', 'ok', 'yes', '✅', '👍', 'st'],
    [
      'A→B │cell│ Cueline™ 5×4 ≤6 −7 №8 ½cup',
      'a',
      'b',
      'cell',
      'cueline',
      '5',
      '6',
      '7',
      '8',
      'cup',
    ],
    ['שלום־עולם ሰላም፡ዓለም', 'עולם', 'ዓለም'],
    ['私は東京に行く', '東京', '東', 'は東京'],
    ['ผมรักกรุงเทพมาก in서울에서', 'กรุงเทพ', '서울', 'in'],
    ['cafe\u0301 CAFE\u0301 naïve 서울'.normalize('NFD'), 'café', 'CAFÉ', 'nai\u0308ve', '서울'],
  ] as const;
  for (const [text, ...searches] of cases) {
    for (const words of searches) assert.ok(await finds(words ?? '', text ?? ''), words);
  }
  for (const words of ['10', 'cafe', '京都', 'grea', 'cu']) {
    assert.ok(!(await finds(words, cases.map(([text]) => text).join(' '))), words);
  }
});

test('words match in every Unicode normalization form', async () => {
  const words = [
    'বয়স \u09ac\u09df\u09b8',
    '\u0958\u0932\u092e',
    '\uf914',
    '5 \u212b',
    '\ufb2a',
    'Ti\u00ea\u0301ng',
  ].flatMap((text) => text.split(' '));
  for (const word of words) {
    for (const text of [word, word.normalize('NFC'), word.normalize('NFD')]) {
      assert.ok(await finds(word, text), JSON.stringify([word, text]));
    }
  }
});

test('case folding does not depend on the locale of the database', async (t) => {
  const name = `${connection.database}_c`;
  const admin = { ...connection, user: 'postgres' };
  const options = `template template0 locale_provider libc locale 'C' encoding 'UTF8'`;
  await runAsAdmin(admin, `create database ${name} ${options} owner cueline`);
  const other = openDatabase({
    connection: { ...connection, database: name },
    poolMax: 1,
    onError: () => {},
  });
  t.after(async () => {
    await other.destroy();
    await runAsAdmin(admin, `drop database ${name} with (force)`);
  });
  for (const words of ['café', 'CAFÉ', 'Tides', '"café tides"']) {
    assert.ok(await finds(words, 'CAFÉ tides', '{}', other), words);
  }
});

test('a number matches after the v of a version, and after no other letter', async () => {
  const text = 'from v1.2.3 to V20, x7';
  for (const words of ['1.2.3', 'v1.2.3', '20', '"from v1.2.3 to"']) {
    assert.ok(await finds(words, text), words);
  }
  for (const words of ['2.3.4', '7', '-20']) assert.ok(!(await finds(words, text)), words);
});

test('a phrase matches at the end of a long text with many partial matches', async () => {
  const text = `${'of the way '.repeat(15_000)} mail user@example.com`;
  assert.ok(await finds('user@example.com', text));
  assert.ok(await finds('"the way mail"', text));
  assert.ok(!(await finds('way@example.com', text)));
});

test('PostgreSQL and JavaScript agree on the character classes', async () => {
  const codes = Array.from({ length: 0x40000 }, (_, at) => at + 1);
  const known = codes.filter((code) => code < 0xd800 || code > 0xdfff);
  for (const inside of [separators, standalone]) {
    const { rows } = await sql<{ code: number }>`
      select code from unnest(${known}::int[]) as code where chr(code) ~ ${`[${inside}]`}
      order by code`.execute(db);
    const one = new RegExp(`[${inside}]`, 'u');
    assert.deepEqual(
      rows.map(({ code }) => code),
      known.filter((code) => one.test(String.fromCodePoint(code))),
    );
  }
});

test('the index has one token for all forms of a letter that a search treats as equal', () => {
  const separator = new RegExp(`[${separators}]`, 'u');
  for (let code = 1; code < 0x40000; code++) {
    const letter = String.fromCodePoint(code).normalize('NFC');
    if (!letter.isWellFormed() || separator.test(letter)) continue;
    const pattern = patternOf(letter);
    const forms = pattern.startsWith('(?:') ? pattern.slice(3, -1).split('|') : [pattern];
    for (const form of forms) {
      const has = tokensOf(form);
      assert.ok(
        [...tokensOf(letter)].every((token) => has.has(token)),
        `${letter} ${form}`,
      );
    }
  }
});

test('separators are not words, and every other character is one', () => {
  const separator = new RegExp(`[${separators}]`, 'u');
  for (let code = 1; code < 0x40000; code++) {
    const sign = String.fromCodePoint(code);
    // In NFC, like the search; some characters become two.
    const read = Array.from(sign.normalize('NFC').replace('\0', ''));
    const isSeparator = read.every((letter) => separator.test(letter));
    assert.equal(readSearch(sign).length === 0, isSeparator, `U+${code.toString(16)}`);
  }
});

test('every input is a valid search, and matches the reference implementation', async () => {
  const pieces = [
    'a',
    'bc',
    'or',
    'é',
    '日',
    '本',
    '👍',
    '→',
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
  // NUL cannot be stored.
  const any = fc
    .string({ unit: 'binary', maxLength: 100 })
    .map((text) => text.replaceAll('\0', ''));
  await fc.assert(
    fc.asyncProperty(fc.oneof(joined, any), fc.oneof(joined, any), async (words, text) => {
      const output = text.toWellFormed();
      assert.equal(
        await finds(words.toWellFormed(), output),
        referenceFinds(words.toWellFormed(), output),
      );
    }),
    { numRuns: 500 },
  );
});

/** The reference implementation: compares character by character after replacing separators with spaces. */
function referenceFinds(words: string, text: string): boolean {
  const letters = (some: string) =>
    Array.from(
      some
        .normalize('NFC')
        .toLowerCase()
        .split(new RegExp(`[${separators}]+`, 'u'))
        .join(' '),
    );
  const boundary = new RegExp(`[ ${standalone}]`, 'u');
  const written = letters(` ${text} `);
  const matchesAt = (phrase: readonly string[], at: number) =>
    phrase.every((letter, offset) => written[at + offset] === letter) &&
    (boundary.test(phrase[0] ?? '') || boundary.test(written[at - 1] ?? '')) &&
    (boundary.test(phrase.at(-1) ?? '') || boundary.test(written[at + phrase.length] ?? ''));
  return readSearch(words).some((phrases) =>
    phrases.every(({ words: parts, excluded }) => {
      const phrase = letters(parts.join(' '));
      const forms = /^[0-9]/.test(phrase[0] ?? '') ? [phrase, ['v', ...phrase]] : [phrase];
      return forms.some((one) => written.some((_, at) => matchesAt(one, at))) !== excluded;
    }),
  );
}

/** Groups of one agent, with texts of several words. Each has the word `common`, every hundredth `scarce`. */
async function addGroups(count: number): Promise<string> {
  const agentId = freshId();
  const [common, scarce] = ['common', 'scarce'].map((word) => [...tokensOf(word)][0]);
  await sql`
    insert into search_groups (newest, oldest, ids, tokens)
    select id, id, array[id], array_cat(
      array[${tokenOf('agent', agentId)}::int, ${common}::int, case when n % 100 = 0 then ${scarce}::int else n end],
      array(select n * 7919 + other from generate_series(1, 50) as other))
    from (select n, uuidv7(n * interval '1 second') as id from generate_series(1, ${count}::int) as n) as made`.execute(
    db,
  );
  return agentId;
}

test('deleted records leave the index without reading all groups', async () => {
  await addGroups(3_000);
  await sql`insert into search_changes (id) select gen_random_uuid() from generate_series(1, 100)`.execute(
    db,
  );
  const before = await readsOfTable(db, 'search_groups');
  assert.notEqual(await indexChanges(db, 1_000), null);
  assert.ok((await readsOfTable(db, 'search_groups')) - before < 100);
});

test('a rare word is found by its token, and groups with a frequent one are read newest first', async () => {
  await sql`truncate search_groups`.execute(db);
  const agentIds = [await addGroups(10_100)];
  const find = async (words: string, isFrequent = false, range: IdRange = everything) => {
    const request = { ...firstHundred(agentIds), contents: { ...anyContents, words } };
    const sets = tokensOfSearch(words);
    assert.ok(sets);
    const before = await readsOfTable(db, 'search_groups');
    const { ids, ...found } = await db.transaction((trx) =>
      findCandidates(trx, request, sets, { range, count: 40, isFrequent }),
    );
    return {
      found: ids.length,
      isFrequent: found.isFrequent,
      read: (await readsOfTable(db, 'search_groups')) - before,
    };
  };
  const absent = await find('absent');
  assert.deepEqual({ ...absent, read: 0 }, { found: 0, isFrequent: false, read: 0 });
  assert.ok(absent.read < 100, `${absent.read} groups read`);
  const scarce = await find('scarce');
  assert.deepEqual({ ...scarce, read: 0 }, { found: 10, isFrequent: false, read: 0 });
  assert.ok(scarce.read < 500, `${scarce.read} groups read`);
  assert.deepEqual(
    { ...(await find('common')), read: 0 },
    { found: 10, isFrequent: true, read: 0 },
  );
  const again = await find('common', true);
  assert.ok(again.found === 10 && again.read < 100, `${again.read} groups read`);
  const { rows } = await sql<{ toId: string }>`
    select newest as to_id from search_groups order by newest offset 5000 limit 1`.execute(db);
  const older = await find('common', true, { ...everything, ...rows[0] });
  assert.ok(older.found === 10 && older.read < 100, `${older.read} groups read`);
});
