import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import {
  batchWhen,
  jsonLines,
  namedLines,
  resultsOf,
  unlimited,
  upload,
} from '../../../../harness/batches.ts';
import { scriptedModels } from '../../../../harness/models.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { ModelFailure, noCost, noUsage } from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';

/** A batch of the failed lines of another, with what their records have stored. */

/** Lines whose names contain it fail. */
let failing = 'bad';
const models = scriptedModels();
const service = await startService({
  models: {
    call(call, emit) {
      if (!call.user.includes(failing)) return models.call(call, emit);
      const usage = { retryable: false, usage: noUsage, cost: noCost };
      return Promise.reject(new ModelFailure('PROVIDER_AUTH', 'No.', usage));
    },
  },
});
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });
const agent = await addAgent(service, { config: { maxAttempts: 1 } });

const labels = { user: 'u1', session: 's1', tags: ['nightly'], metadata: { region: 'eu' } };
const bad = namedLines(2, 'bad').map((line) => ({ ...line, ...labels }));

async function failLines(lines: readonly object[] = bad) {
  failing = 'bad';
  const file = jsonLines([...namedLines(1, 'good'), ...lines, { id: 'refused', variables: 1 }]);
  const { body } = await upload(service, agent, file, { key });
  const batch = await batchWhen(service, body.statusUrl, key);
  failing = 'no line';
  return { statusUrl: body.statusUrl as string, batch };
}

const rerun = (statusUrl: string, headers: Record<string, string> = {}) =>
  service.call('POST', `${statusUrl}/rerun`, { key, headers });

test('the failed lines run again with their numbers, ids, variables and labels', async () => {
  const { statusUrl, batch } = await failLines();
  assert.deepEqual([batch.counts.success, batch.counts.failed, batch.counts.refused], [1, 2, 1]);
  assert.equal(batch.rerunOf, null);
  const { status, body, headers } = await rerun(statusUrl);
  assert.equal(status, 202);
  assert.equal(headers.get('location'), body.statusUrl);
  const again = await batchWhen(service, body.statusUrl, key);
  assert.equal(again.rerunOf, batch.batchId);
  assert.deepEqual([again.status, again.counts.total, again.counts.success], ['completed', 2, 2]);
  const results = await resultsOf(service, body.statusUrl, key);
  assert.deepEqual(
    results.map(({ line, id, outputText }) => [line, id, outputText]),
    [
      [2, 'bad-1', 'Hello bad 1'],
      [3, 'bad-2', 'Hello bad 2'],
    ],
  );
  const executions = await service.call('GET', `/api/v1/executions?batchId=${again.batchId}`, {
    key,
  });
  for (const { user, session, tags, metadata } of executions.body.executions) {
    assert.deepEqual({ user, session, tags, metadata }, labels);
  }
});

test('on the version that the agent pins now', async () => {
  const { statusUrl, batch } = await failLines();
  await sql`
    with added as (
      insert into prompt_versions (id, prompt_id, workspace_id, number, label, user_template, variables, model)
      select gen_random_uuid(), prompt_id, workspace_id, 2, 'v2', 'Again {{name}}', variables, model
      from prompt_versions where id = ${fromId('version', batch.promptVersionId)} returning id)
    update agents set prompt_version_id = (select id from added) where id = ${agent.id}`.execute(
    service.db,
  );
  const { body } = await rerun(statusUrl);
  const again = await batchWhen(service, body.statusUrl, key);
  assert.equal(again.promptVersionLabel, 'v2');
  const [first] = await resultsOf(service, body.statusUrl, key);
  assert.equal(first?.outputText, 'Again bad 1');
});

test('a line whose variables are no longer stored is refused, the others run', async () => {
  const { statusUrl } = await failLines();
  const [, line] = await resultsOf(service, statusUrl, key);
  await sql`
    update executions set input_variables = null where id = ${fromId('execution', line?.executionId)}`.execute(
    service.db,
  );
  const { body } = await rerun(statusUrl);
  await batchWhen(service, body.statusUrl, key);
  const results = await resultsOf(service, body.statusUrl, key);
  assert.deepEqual(
    results.map(({ id, status, error }) => [id, status, error]),
    [
      ['bad-1', 'refused', 'The variables of the line are no longer stored.'],
      ['bad-2', 'success', null],
    ],
  );
});

test('a call with the same idempotency key returns the same batch', async () => {
  const [one, two] = [await failLines(), await failLines()];
  const headers = { 'idempotency-key': 'again' };
  const first = await rerun(one.statusUrl, headers);
  const second = await rerun(one.statusUrl, headers);
  assert.deepEqual([second.status, second.body], [202, first.body]);
  assert.equal(second.headers.get('idempotent-replayed'), 'true');
  const other = await rerun(two.statusUrl, headers);
  assert.deepEqual([other.status, other.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
  const file = await upload(service, agent, jsonLines(bad), { key, idempotencyKey: 'again' });
  assert.deepEqual([file.status, file.body.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
});

test('many long lines are copied in pages', async () => {
  const long = 'x'.repeat(900_000);
  const lines = Array.from({ length: 6 }, (_, n) => {
    return { id: `long-${n}`, variables: { name: `bad ${n} ${long}` } };
  });
  const { statusUrl } = await failLines([...lines, ...namedLines(250, 'bad')]);
  const { body } = await rerun(statusUrl);
  const again = await batchWhen(service, body.statusUrl, key);
  assert.deepEqual([again.counts.total, again.counts.success], [256, 256]);
});
