import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';
import { failingItems } from './items.ts';

/**
 * A run of the items that have not succeeded: it takes over what the step waited for, fans out over these items only, and
 * runs what waits for the step.
 */

const items = await failingItems();
const { service, key } = items;
after(service.close);

async function ended(statusUrl: string) {
  const { body } = await service.call('GET', `${statusUrl}?wait=60&include=usage`, { key });
  return body;
}

type Step = { readonly name: string; readonly [field: string]: unknown };
const stepOf = (run: { steps: Step[] }, name: string) =>
  run.steps.find((step) => step.name === name) as Step;
const countsOf = ({ itemCount, itemsSucceeded, itemsFailed }: Omit<Step, 'name'>) => [
  ...[itemCount, itemsSucceeded, itemsFailed],
];

test('a run with failed items says so, and lists find it', async () => {
  const { run, path } = await items.run(['a', 'c']);
  assert.equal(run.status, 'success');
  assert.equal(run.output, '[null,"item b",null] S');
  assert.deepEqual(countsOf(run), [3, 1, 2]);
  assert.deepEqual(countsOf(stepOf(run, 'each')), [3, 1, 2]);
  const body = { input: { list: [] } };
  const { body: plain } = await service.call('POST', `${path}/execute`, { key, body });
  const all = await service.call('GET', `${path}/runs`, { key });
  assert.equal(all.body.pagination.total, 2);
  assert.deepEqual(
    [all.body.runs[0].workflowRunId, ...countsOf(all.body.runs[0])],
    [plain.workflowRunId, undefined, undefined, undefined],
  );
  const filtered = await service.call('GET', `${path}/runs?failedItems=true`, { key });
  assert.equal(filtered.body.pagination.total, 1);
  const [listed] = filtered.body.runs;
  assert.deepEqual([listed.workflowRunId, ...countsOf(listed)], [run.workflowRunId, 3, 1, 2]);
  const other = await service.call('GET', `${path}/runs?failedItems=true&status=failed`, { key });
  assert.equal(other.body.pagination.total, 0);
});

test('a run from before such runs were marked is not found, and its items are not read', async () => {
  const { run, path, statusUrl } = await items.run(['b']);
  const id = fromId('workflowRun', run.workflowRunId);
  await sql`delete from runs_with_failed_items where run_id = ${id}`.execute(service.db);
  const { body } = await service.call('GET', `${path}/runs?failedItems=true`, { key });
  assert.equal(body.pagination.total, 0);
  const { body: all } = await service.call('GET', `${path}/runs`, { key });
  assert.deepEqual(all.runs.map(countsOf), [[undefined, undefined, undefined]]);
  assert.deepEqual(countsOf(await ended(statusUrl)), [3, 2, 1]);
});

test('the failed items run again, with what the steps before them gave', async () => {
  const { run, statusUrl } = await items.run(['a', 'c']);
  const { status, body, headers } = await items.rerun(statusUrl, 'each');
  assert.equal(status, 202);
  assert.equal(headers.get('location'), body.statusUrl);
  const again = await ended(body.statusUrl);
  assert.deepEqual([again.status, again.output], ['success', '["item a","item c"] S']);
  assert.deepEqual([again.rerunOf, again.rerunStep], [run.workflowRunId, 'each']);
  assert.deepEqual([again.input, again.tags], [run.input, ['nightly']]);
  assert.equal(again.workflowVersionId, run.workflowVersionId);
  assert.deepEqual(countsOf(stepOf(again, 'each')), [2, 2, 0]);
  // The steps that it does not wait for are not executed again.
  for (const name of ['split', 'side']) {
    const kept = stepOf(again, name);
    assert.deepEqual([kept.status, kept.executionId], ['success', undefined], name);
  }
  assert.equal(again.usage.executions, 3);
  const { rows } = await sql`
    select from workflow_steps where run_id = ${fromId('workflowRun', body.workflowRunId)} and output is not null`.execute(
    service.db,
  );
  assert.equal(rows.length, 0, 'what was taken over is removed at the end');
});

for (const list of ['{{input.list}}', '{{steps.split.output}}']) {
  test(`a rerun of a rerun runs the items that failed again, of ${list}`, async () => {
    const { statusUrl } = await items.run(['a', 'c'], [items.each('letters', list)]);
    const rerun = async (url: string, failing: readonly string[]) => {
      items.fail(failing);
      const { body } = await items.rerun(url, 'letters');
      return ended(body.statusUrl);
    };
    const second = await rerun(statusUrl, ['c']);
    const urlOf = (run: { workflowId: string; workflowRunId: string }) =>
      `/api/v1/workflows/${run.workflowId}/runs/${run.workflowRunId}`;
    assert.deepEqual(countsOf(second), [2, 1, 1]);
    for (const failing of [['c'], []]) {
      const again = await rerun(urlOf(second), failing);
      assert.equal(again.rerunOf, second.workflowRunId);
      const { rows } = await sql`
        select input_variables ->> 'name' as name from executions
        where workflow_run_id = ${fromId('workflowRun', again.workflowRunId)} and step_name = 'letters'`.execute(
        service.db,
      );
      assert.deepEqual(rows, [{ name: 'c' }]);
      if (failing.length === 0) continue;
      const last = await rerun(urlOf(again), []);
      assert.deepEqual([last.status, ...countsOf(stepOf(last, 'letters'))], ['success', 1, 1, 0]);
    }
  });
}

test('in a run that failed, also the items that never began', async () => {
  const failing = { ...items.each('strict', '{{input.list}}'), onFailure: 'fail' };
  const concurrency = 1;
  const strict = { ...failing, forEach: { ...failing.forEach, concurrency } };
  const { run, statusUrl } = await items.run(['b'], [strict]);
  assert.deepEqual([run.status, run.failedStep], ['failed', 'strict']);
  const { body } = await items.rerun(statusUrl, 'strict');
  const again = await ended(body.statusUrl);
  assert.equal(again.status, 'success');
  assert.deepEqual(countsOf(stepOf(again, 'strict')), [2, 2, 0]);
});

test('a step with items beside it is taken over, a step after it fans out over the new outputs', async () => {
  const beside = items.each('beside', '{{input.list}}');
  const next = items.each('next', '{{steps.each.output}}');
  const { run, statusUrl } = await items.run(['c'], [beside, next]);
  // The output of a failed item is null, which is no value.
  assert.deepEqual(countsOf(run), [9, 6, 3]);
  const { body } = await items.rerun(statusUrl, 'each');
  const again = await ended(body.statusUrl);
  assert.equal(again.status, 'success');
  assert.deepEqual(countsOf(stepOf(again, 'beside')), [undefined, undefined, undefined]);
  assert.deepEqual(countsOf(stepOf(again, 'next')), [1, 1, 0]);
});

test('a call with the same idempotency key returns the same run, and is refused for another step', async () => {
  const twice = items.each('twice', '{{input.list}}');
  const { statusUrl } = await items.run(['a'], [twice]);
  const headers = { 'idempotency-key': 'again' };
  const calls = await Promise.all([1, 2].map(() => items.rerun(statusUrl, 'each', headers)));
  const [one, two] = calls.map(({ body }) => body.workflowRunId);
  assert.equal(one, two);
  const replayed = await items.rerun(statusUrl, 'each', headers);
  assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
  const other = await items.rerun(statusUrl, 'twice', headers);
  assert.deepEqual([other.status, other.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
});

test('the run of the items has the limit of cost of the first one, in a window of its own', async () => {
  const { run, path } = await items.run([]);
  items.fail(['b']);
  const body = { input: run.input, maxCostUSD: 1 };
  const { body: limited } = await service.call('POST', `${path}/execute`, { key, body });
  assert.equal((await ended(limited.statusUrl)).itemsFailed, 1);
  items.fail([]);
  const { status, body: again } = await items.rerun(limited.statusUrl, 'each');
  assert.equal(status, 202);
  assert.equal((await ended(again.statusUrl)).maxCostUSD, 1);
});
