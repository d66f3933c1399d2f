import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runAsAdmin } from '../../../harness/cluster.ts';
import { createTestDatabase } from '../../../harness/database.ts';
import { cueline, onDatabase } from '../cueline.ts';

const database = await createTestDatabase();
after(() => database.drop());
const { connection } = database;
const { DATABASE_URL = '' } = onDatabase(connection);
const admin = { ...connection, user: 'postgres' };
const secret = 'a secret that only tests know of, and no one else';

async function assertOneSentence(url: string, sentence: RegExp): Promise<void> {
  const ended = await cueline(['start'], { DATABASE_URL: url, CUELINE_SECRET: secret, PORT: '0' });
  assert.equal(ended.code, 1);
  assert.equal(ended.stdout, '');
  assert.match(ended.stderr, sentence);
  assert.equal(ended.stderr.trimEnd().split('\n').length, 1, ended.stderr);
}

test('a server without TLS ends the start with one sentence', () =>
  assertOneSentence(`${DATABASE_URL}&sslmode=require`, /set sslmode=disable in DATABASE_URL/));

test('a role without CREATE ends the start with one sentence', async () => {
  await runAsAdmin(admin, 'drop owned by cueline');
  await runAsAdmin(admin, 'alter schema public owner to postgres');
  await assertOneSentence(DATABASE_URL, /run "GRANT CREATE ON SCHEMA public TO cueline"/);
});

test('a search_path without a schema ends the start with one sentence', async () => {
  await runAsAdmin(admin, `alter database ${connection.database} set search_path = ''`);
  await assertOneSentence(DATABASE_URL, /SET search_path = public"\.\n$/);
});
