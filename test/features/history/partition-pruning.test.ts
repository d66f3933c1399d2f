import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../../harness/database.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import type { Send } from '../../../src/db/pipeline.ts';
import { sql } from '../../../src/db/sql.ts';
import { statement } from '../../../src/db/statement.ts';
import { readExecutions } from '../../../src/engine/read/executions.ts';
import { deleteRecords } from '../../../src/features/history/statements/deletion.ts';

/** Prepared statements with ids open only the partitions of these ids. */

const database = await createTestDatabase();
const pipelines = testPipelines(database.connection, 1);
after(async () => {
  await pipelines.close();
  await database.drop();
});
const id = freshId();

const statements: [name: string, parameters: string, execute: () => Promise<unknown>][] = [
  [
    'records-delete-given',
    `'{${id}}', '${id}', '${id}'`,
    () => deleteRecords(pipelines, { ids: [id] }),
  ],
  [
    'read-executions',
    `'{${id}}', '{${id}}', '${id}', '${id}'`,
    () => pipelines.use((send) => readExecutions(send, [{ agentId: id, executionId: id }])),
  ],
];

for (const [name, parameters, execute] of statements) {
  test(`${name} opens one month`, async () => {
    await execute();
    const plan = await pipelines.use((send) => explain(send, name, parameters));
    const months = new Set(plan.match(/\bexecutions_(\d{4}_\d\d|default)\b/g));
    assert.equal(months.size, 1, plan);
    assert.match(plan, /Subplans Removed/);
  });
}

/** The cached generic plan of a prepared statement. */
async function explain(send: Send, name: string, parameters: string): Promise<string> {
  const explaining = statement<void, Record<'QUERY PLAN', string>>(`explain ${name}`)`
    explain (costs off) execute ${sql.raw(`"${name}"(${parameters})`)}`;
  const rows = await send(explaining);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
