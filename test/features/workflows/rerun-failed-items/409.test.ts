import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';
import { failingItems } from './items.ts';

/** Why the failed items of a step cannot run again. */

const items = await failingItems();
const { service, key } = items;
after(service.close);

async function fail() {
  const failed = await items.run(['a', 'b']);
  return { ...failed, id: fromId('workflowRun', failed.run.workflowRunId) };
}

async function refusal(statusUrl: string, step = 'each') {
  const { status, body } = await items.rerun(statusUrl, step);
  return { status, code: body.code, message: body.message };
}
const conflict = (reason: string) => ({
  ...{ status: 409, code: 'CONFLICT', message: `${reason} Run the whole workflow again.` },
});

test('a run that has not ended', async () => {
  const { statusUrl, id } = await fail();
  await sql`
    update workflow_runs set status = 'processing', completed_at = null, output = null,
      deadline_at = clock_timestamp() + interval '1 day' where id = ${id}`.execute(service.db);
  assert.deepEqual(await refusal(statusUrl), conflict('The workflow run has not ended.'));
});

test('a step without failed items, without items, or that does not exist', async () => {
  const { statusUrl } = await items.run([]);
  assert.deepEqual(await refusal(statusUrl), conflict('All items of the step have succeeded.'));
  assert.deepEqual(await refusal(statusUrl, 'split'), conflict('The step has no items.'));
  assert.equal((await refusal(statusUrl, 'none')).status, 404);
});

test('another version is pinned', async () => {
  const { path, statusUrl } = await fail();
  const body = { definition: items.definition() };
  const { body: added } = await service.call('POST', `${path}/versions`, { key, body });
  const { workflowVersionId } = added;
  await service.call('PATCH', path, { key, body: { workflowVersionId } });
  const { status, code, message } = await refusal(statusUrl);
  assert.deepEqual([status, code], [409, 'CONFLICT']);
  assert.match(message, /pins another version/);
});

test('a rerun, whose first run has the items of the step or has the output', async () => {
  const twice = items.each('twice', '{{input.list}}');
  const first = await items.run(['a', 'b'], [twice]);
  items.fail(['a']);
  const { body } = await items.rerun(first.statusUrl, 'each');
  await service.call('GET', `${body.statusUrl}?wait=60`, { key });
  items.fail([]);
  const { workflowRunId } = first.run;
  const where = `in this run, which runs items of ${workflowRunId}.`;
  assert.deepEqual(
    await refusal(body.statusUrl, 'twice'),
    conflict(`The step has no items ${where}`),
  );
  await sql`delete from workflow_runs where id = ${fromId('workflowRun', workflowRunId)}`.execute(
    service.db,
  );
  assert.deepEqual(
    await refusal(body.statusUrl),
    conflict(`The output of step "split" is not stored ${where}`),
  );
});

test('what it needs is no longer stored', async () => {
  const { statusUrl, id } = await fail();
  await sql`
    update executions set output = null where workflow_run_id = ${id} and step_name = 'split'`.execute(
    service.db,
  );
  const missing = conflict('The output of step "split" is not stored.');
  assert.deepEqual(await refusal(statusUrl), missing);
  await sql`
    update workflow_runs set bodies = 'removed', input = null, output = null where id = ${id}`.execute(
    service.db,
  );
  assert.equal((await refusal(statusUrl)).status, 409);
});
