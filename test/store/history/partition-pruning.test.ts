import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../../harness/database.ts';
import { freshId } from '../../../harness/fresh-id.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { noDetails } from '../../../src/core/model/model-port.ts';
import type { Send } from '../../../src/store/connection/pipeline.ts';
import { readExecutions } from '../../../src/store/execution/executions.ts';
import { type EndedExecution, writeEnds } from '../../../src/store/execution/finish.ts';
import { removeRecords } from '../../../src/store/history/removal.ts';

/** Prepared statements with ids open only the partitions of these ids. */

const database = await createTestDatabase();
const pipelines = testPipelines(database.connection, 1);
after(async () => {
  await pipelines.close();
  await database.drop();
});
const id = freshId();
const ended: EndedExecution = {
  ...{ id, agentId: id, status: 'success', completedMs: 0, startedMs: null, latencyMs: 0 },
  ...{ attempts: 1, inputTokens: 0, outputTokens: 0, costUsd: '0', costKnown: true },
  ...{
    finishReason: null,
    settingsNotApplied: null,
    errorCode: null,
    ...{ user: null, session: null, label: null },
    error: null,
    systemPrompt: null,
    userPrompt: null,
    request: null,
    toolCalls: null,
  },
  outputJson: null,
  ...{
    output: null,
    storeBodies: true,
    ...noDetails,
    costSource: null,
    model: 'a/b',
    lastClaim: 1,
    firstTextMs: null,
    attemptList: null,
  },
};

const statements: [name: string, parameters: string, execute: () => Promise<unknown>][] = [
  [
    'finish-update-executions',
    `'{${id}}', ${'null, '.repeat(30)}'${id}', '${id}'`,
    () =>
      pipelines.use(async (send) => {
        await send({ name: 'begin', text: 'begin' });
        const none = {
          tallies: [],
          cancellations: [],
          slotAgentIds: [],
          transientExecutionIds: [],
        };
        await writeEnds(send, [ended], { ...none, inSameTransaction: () => [] });
      }),
  ],
  [
    'removal-delete-given',
    `'{${id}}', '${id}', '${id}'`,
    () => removeRecords(pipelines, { ids: [id] }),
  ],
  [
    'read-executions',
    `'{${id}}', '{${id}}', 1, '${id}', '${id}'`,
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
  const text = `explain (costs off) execute "${name}"(${parameters})`;
  const rows = await send<Record<'QUERY PLAN', string>>({ name: `explain ${name}`, text });
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
