import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freshId } from '../../harness/fresh-id.ts';
import { type Service, startService } from '../../harness/service.ts';
import { type Cueline, createClient } from '../../src/client/index.ts';
import { toId } from '../../src/core/id.ts';
import { ModelFailure } from '../../src/core/model/model-port.ts';
import { sql } from '../../src/db/sql.ts';
import { failure } from './server.ts';

/** The client against the real service. */

let service: Service;
let cueline: Cueline;
let agent: string;

before(async () => {
  service = await startService();
  const { key } = await service.key();
  cueline = createClient({ baseURL: service.url, key });
  agent = await deployedAgent(service);
});
after(() => service.close());

test('an execution from its variables to its end', async () => {
  const ended = await cueline.executeAndWait(agent, { topic: 'tides' });
  assert.equal(ended.status, 'success');
  assert.equal(ended.output, 'Explain tides.');
  assert.equal(ended.tokensUsed, 15);
  assert.deepEqual(ended.inputVariables, { topic: 'tides' });
});

test('without a session, no user is signed in', async () => {
  assert.equal(await createClient({ baseURL: service.url }).session.user(), null);
});

test('a failed execution is returned, not thrown', async () => {
  service.models.script(new ModelFailure('CONTENT_FILTERED', 'No.'));
  const ended = await cueline.executeAndWait(agent, { topic: 'secrets' });
  assert.equal(ended.status, 'failed');
  assert.equal(ended.errorCode, 'CONTENT_FILTERED');
});

test('an execution can be awaited, and canceled once', async () => {
  const heldCall = service.models.hold();
  const { executionId, statusUrl } = await cueline.execute(agent, { topic: 'waves' });
  await heldCall.arrived;
  assert.equal(statusUrl, `/api/v1/agents/${agent}/executions/${executionId}`);
  assert.equal((await cueline.status(agent, executionId)).status, 'processing');
  const waiting = cueline.wait(agent, executionId);
  assert.equal((await cueline.cancel(agent, executionId)).status, 'canceled');
  assert.equal((await waiting).errorCode, 'CANCELED');
  const again = await failure(cueline.cancel(agent, executionId));
  assert.deepEqual([again.status, again.code], [409, 'ALREADY_ENDED']);
});

test('the same idempotency key executes once', async () => {
  const options = { idempotencyKey: 'only-once' };
  const first = await cueline.execute(agent, { topic: 'ebb' }, options);
  await cueline.wait(agent, first.executionId);
  const repeated = await cueline.execute(agent, { topic: 'ebb' }, options);
  assert.deepEqual(repeated, { ...first, currentStatus: 'success' });
  const other = await failure(cueline.execute(agent, { topic: 'flow' }, options));
  assert.deepEqual([other.status, other.code], [422, 'IDEMPOTENCY_KEY_REUSED']);
});

test('an error names the missing variables', async () => {
  const error = await failure(cueline.execute(agent, { tpoic: 'tides' }));
  assert.deepEqual([error.status, error.code], [400, 'MISSING_VARIABLES']);
  assert.deepEqual((error.body as { missingVariables: string[] }).missingVariables, ['topic']);
  assert.match(error.requestId ?? '', /^req_/);
});

test('listAll returns the whole history', async () => {
  for (const topic of ['a', 'b', 'c']) await cueline.executeAndWait(agent, { topic });
  const { executions, pagination } = await cueline.list(agent, { limit: 100 });
  assert.equal(pagination.total, executions.length);
  const all = await Array.fromAsync(cueline.listAll(agent, { limit: 2 }));
  assert.deepEqual(
    all.map(({ executionId }) => executionId),
    executions.map(({ executionId }) => executionId),
  );
});

test('an unknown key returns 401', async () => {
  const stranger = createClient({ baseURL: service.url, key: 'cue_nope' });
  const error = await failure(stranger.execute(agent, {}));
  assert.deepEqual([error.status, error.code], [401, 'UNAUTHORIZED']);
});

/** Inserted directly into the tables, because this file tests the client. */
async function deployedAgent({ db, workspaceId, ownerId }: Service): Promise<string> {
  const [prompt, version, id] = [freshId(), freshId(), freshId()];
  await sql`insert into prompts (id, workspace_id, name) values (${prompt}, ${workspaceId}, 'P')`.execute(
    db,
  );
  await sql`
    insert into prompt_versions (id, prompt_id, workspace_id, number, label, user_template, variables, model)
    values (${version}, ${prompt}, ${workspaceId}, 1, 'v1', 'Explain {{topic}}.', '{topic}', 'cueline/echo')`.execute(
    db,
  );
  await sql`
    insert into agents (id, workspace_id, name, prompt_id, prompt_version_id, config, required_variables,
      optional_variables, default_variable_values, stage, api_enabled, created_by)
    values (${id}, ${workspaceId}, 'Explainer', ${prompt}, ${version}, '{}', '{topic}', '{}', '{}', 'Deployed',
      true, ${ownerId})`.execute(db);
  await sql`insert into limits (subject) values (${id})`.execute(db);
  await sql`insert into slugs (workspace_id, slug, subject) values (${workspaceId}, ${id}, ${id})`.execute(
    db,
  );
  return toId('agent', id);
}
