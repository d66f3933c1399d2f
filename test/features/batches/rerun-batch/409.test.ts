import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import {
  batchWhen,
  jsonLines,
  namedLines,
  unlimited,
  upload,
} from '../../../../harness/batches.ts';
import { startService } from '../../../../harness/service.ts';
import { ModelFailure, noCost, noUsage } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });
const agent = await addAgent(service, { config: { maxAttempts: 1 } });
const failure = new ModelFailure('PROVIDER_AUTH', 'No.', {
  ...{ retryable: false, usage: noUsage, cost: noCost },
});

async function refusal(statusUrl: string) {
  const { status, body } = await service.call('POST', `${statusUrl}/rerun`, { key });
  return [status, body.code, body.message];
}
const conflict = (message: string) => [409, 'CONFLICT', message];

async function uploaded() {
  const { body } = await upload(service, agent, jsonLines(namedLines(1)), { key });
  return body.statusUrl as string;
}

test('a batch that has not ended', async () => {
  const held = service.models.hold();
  const statusUrl = await uploaded();
  await held.arrived;
  assert.deepEqual(await refusal(statusUrl), conflict('The batch has not ended.'));
  held.release();
  await batchWhen(service, statusUrl, key);
  assert.deepEqual(await refusal(statusUrl), conflict('No line of the batch has failed.'));
});

test('no variables are stored any more: nothing of the new batch stays', async () => {
  service.models.script(failure);
  const statusUrl = await uploaded();
  await batchWhen(service, statusUrl, key);
  await sql`update executions set input_variables = null where status = 'failed'`.execute(
    service.db,
  );
  const gone = conflict('The variables of the failed lines are no longer stored.');
  assert.deepEqual(await refusal(statusUrl), gone);
  const { rows } = await sql`select from batches where rerun_of is not null`.execute(service.db);
  assert.equal(rows.length, 0);
});

test('beyond the storage of the workspace nothing of the new batch stays', async () => {
  const small = await startService({
    config: { batchStorage: { linesMax: 1, bytesMax: 1_000_000 } },
  });
  after(small.close);
  const { key: own } = await small.key({ rateLimits: unlimited });
  const one = await addAgent(small, { config: { maxAttempts: 1 } });
  small.models.script(failure);
  const { body } = await upload(small, one, jsonLines(namedLines(1)), { key: own });
  await batchWhen(small, body.statusUrl, own);
  await sql`
    insert into batches (id, workspace_id, agent_id, prompt_version_id, caller, digest, status, total, waiting, next_at)
    select gen_random_uuid(), workspace_id, agent_id, prompt_version_id, caller, '', 'processing', 1, 1, 'infinity'
    from batches`.execute(small.db);
  const again = await small.call('POST', `${body.statusUrl}/rerun`, { key: own });
  assert.deepEqual([again.status, again.body.code], [429, 'BATCH_LIMIT_EXCEEDED']);
  const { rows } = await sql`select from batches where rerun_of is not null`.execute(small.db);
  assert.equal(rows.length, 0);
});
