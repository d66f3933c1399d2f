import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../harness/database.ts';
import { numbered, testPipelines } from '../../harness/pipelines.ts';

const database = await createTestDatabase();
const pipelines = testPipelines(database.connection);
after(() => pipelines.close());
after(database.drop);

test('PostgreSQL reads each element as it was, whatever it contains', async () => {
  const texts = [
    ...['', 'NULL', 'plain', '"', '\\', '\\"', '{"a":[1,"x\\n\\\\"]}', ' {1,2} ', 'é 😀 "quoted"'],
    ...['\t\n\r\u0001"\u007f"', `${'{"a":"\\\\é"},\n'.repeat(10_000)}"`],
  ];
  const rows = await pipelines.use((send) =>
    send(numbered<{ texts: string[] }>('test-elements', 'select $1::text[] as texts'), [texts]),
  );
  assert.deepEqual(rows[0]?.texts, texts);
});
