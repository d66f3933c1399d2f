import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { type Db, openDatabase } from '../../src/db/database.ts';
import { containsText } from '../../src/db/page.ts';
import { sql } from '../../src/db/sql.ts';

/** The search for names, as in databases of other locales. */

let database: TestDatabase;
let db: Db;
let collations: string[];

before(async () => {
  database = await createTestDatabase();
  db = openDatabase({ connection: database.connection, poolMax: 1, onError: () => {} });
  const { rows } = await sql<{ name: string }>`
    select collname as name from pg_collation
    where collname in ('C', 'tr-x-icu', 'und-x-icu', 'pg_c_utf8') order by collname`.execute(db);
  collations = rows.map(({ name }) => name);
});
after(async () => {
  await db.destroy();
  await database.drop();
});

const found: [part: string, text: string][] = [
  ['übersicht', 'Die Übersicht'],
  ['ÜBERSICHT', 'übersicht'],
  ['u\u0308bersicht', 'Übersicht'],
  ['übersicht', 'U\u0308bersicht'],
  ['invoice', 'INVOICE'],
  ['INVOICE', 'invoice'],
  ['οδος', 'ΟΔΟΣ'],
  ['ΟΔΟΣ', 'οδος'],
  ['οδοσ', 'οδος'],
  ['прайс', 'ПРАЙС-лист'],
  ['.*+?^$()[]{}|\\', 'a.*+?^$()[]{}|\\b'],
  ['100%_', 'at 100%_ of'],
];
const missed: [part: string, text: string][] = [
  ['a.c', 'abc'],
  ['%', 'abc'],
  ['***:abc', 'abc'],
  ['(?i)abc', 'abc'],
  ['ubersicht', 'Übersicht'],
];

test('a name is found in any case under any collation', async () => {
  assert.ok(collations.includes('C'));
  for (const collation of collations) {
    for (const [part, text] of found) {
      assert.equal(await contains(text, part, collation), true, `${part} in ${text}: ${collation}`);
    }
    for (const [part, text] of missed) {
      assert.equal(
        await contains(text, part, collation),
        false,
        `${part} in ${text}: ${collation}`,
      );
    }
  }
});

async function contains(text: string, part: string, collation: string): Promise<boolean> {
  const column = sql`${text}::text collate ${sql.raw(`"${collation}"`)}`;
  const { rows } = await sql<{ found: boolean }>`
    select ${containsText(column, part)} as found`.execute(db);
  return rows[0]?.found ?? false;
}
