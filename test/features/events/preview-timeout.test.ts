import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { interceptedDb } from '../../../harness/silent-db.ts';
import { sql } from '../../../src/db/sql.ts';
import { withDefaults } from '../../../src/features/events/rules/alert.ts';
import { previewFirings } from '../../../src/features/events/verbs/change-alert.ts';

const service = await startService({ role: 'api' });
after(service.close);

test('a preview that times out is refused as too much, which no client sends again', async () => {
  let reads = 0;
  const slow = interceptedDb(service.db, (statement, run) => {
    if (!statement.text.includes('statistics')) return run(statement);
    reads++;
    return run(sql`do $$ begin raise exception using errcode = '57014'; end $$`);
  });
  const settings = withDefaults({ metric: 'count', threshold: 1 });
  await assert.rejects(previewFirings(slow, service.workspaceId, settings, 7), {
    code: 'INVALID_REQUEST',
    message: 'The preview would read too much. Use fewer "days" or fewer agents.',
  });
  assert.equal(reads, 1);
});
