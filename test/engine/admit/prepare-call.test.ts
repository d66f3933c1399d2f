import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { inlineCompute } from '../../../harness/inline-compute.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import { prices } from '../../../harness/setups.ts';
import { parseExecuteBody, type UnparsedBody } from '../../../src/core/agent/variables.ts';
import { type Compute, JobTooLarge } from '../../../src/core/compute.ts';
import type { ExecuteCall } from '../../../src/core/execution/decide.ts';
import { sql } from '../../../src/db/sql.ts';
import { createAdmission } from '../../../src/engine/admit/admit.ts';
import { readConfig } from '../../../src/process/config/config.ts';

/** What a body costs beyond a look at it happens once its caller is known, and never while rows are locked. */

const service = await startService({ role: 'api' });
const pipelines = testPipelines(service.database.connection);
after(() => pipelines.close());
after(service.close);
const { db } = service;
const { testingLimits } = readConfig({});
const notifications = { publish() {} };
const unlimited = { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null };

/** The admission of a new process, and the names of the jobs that it runs. `during` runs before each of them. */
function newAdmission(during: () => Promise<unknown> = async () => {}) {
  const jobs: string[] = [];
  const compute: Compute = {
    async run(workspaceId, job, input) {
      jobs.push(job.name);
      await during();
      return inlineCompute.run(workspaceId, job, input);
    },
  };
  const template = () => assert.fail('it was read');
  const deps = { pipelines, testingLimits, slots: null, notifications, compute, prices, template };
  return { ...createAdmission(deps), jobs };
}

function callOf(key: string, agentId: string, body: ExecuteCall['body']): ExecuteCall {
  const hash = createHash('sha256').update(key).digest('hex');
  return {
    credential: { kind: 'key', hash },
    ...{ agentId, body, idempotencyKey: null, idempotencyProblem: null },
    ...{ ipAddress: null, userAgent: null },
  };
}

const bodyOf = (json: string) => parseExecuteBody(`{"variables":${json}}`);

/** A body that counts how often it is parsed. */
function longBody(json: string) {
  const parsed: string[] = [];
  const parse: UnparsedBody['parse'] = async (workspaceId) => {
    parsed.push(workspaceId);
    return bodyOf(json);
  };
  const body: UnparsedBody = { kind: 'unparsed', chars: json.length, parse };
  return { body, parsed };
}

test('a call with an unknown key, or one that is refused earlier, is neither parsed, hashed nor examined', async () => {
  const agent = await addAgent(service);
  const limited = await service.key({ rateLimits: { ...unlimited, requestsPerDay: 1 } });
  const { admit, jobs } = newAdmission();
  const plain = await admit(callOf(limited.key, agent.id, bodyOf('{"name":"A"}')));
  assert.equal(plain.kind, 'accepted');
  for (const [key, code] of [
    ['cue_unknown', 'UNAUTHORIZED'],
    [limited.key, 'RATE_LIMIT_EXCEEDED'],
  ] as const) {
    const { body, parsed } = longBody('{"name":"A"}');
    const call = { ...callOf(key, agent.id, body), idempotencyKey: 'one' };
    const refused = await admit(call);
    assert.ok(refused.kind === 'refused');
    assert.equal(refused.code, code);
    assert.deepEqual(parsed, []);
  }
  assert.deepEqual(jobs, []);
});

test('a long body is parsed once, outside of the locks, and then counts like any other', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key({ rateLimits: { ...unlimited, requestsPerDay: 2 } });
  const { admit } = newAdmission();
  const { body, parsed } = longBody('{"name":"A"}');
  const locked: UnparsedBody = {
    ...body,
    async parse(workspaceId) {
      // It would wait for ever if this call held the locks of its key.
      const other = await admit(callOf(key, agent.id, bodyOf('{"name":"B"}')));
      assert.equal(other.kind, 'accepted');
      return body.parse(workspaceId);
    },
  };
  assert.equal((await admit(callOf(key, agent.id, locked))).kind, 'accepted');
  assert.deepEqual(parsed, [service.workspaceId]);
  const third = await admit(callOf(key, agent.id, bodyOf('{"name":"C"}')));
  assert.ok(third.kind === 'refused');
  assert.equal(third.code, 'RATE_LIMIT_EXCEEDED');
});

test('variables are examined outside of the locks, and a call spends its limits once', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 2 } });
  await pinWith(agent.id, { name: { type: 'string' } });
  const { key } = await service.key();
  const other = await addAgent(service);
  const { admit, jobs } = newAdmission(() => admit(callOf(key, other.id, bodyOf('{"name":"B"}'))));
  const outcomes: string[] = [];
  for (const value of ['5', '"A"', '"B"']) {
    const result = await admit(callOf(key, agent.id, bodyOf(`{"name":${value}}`)));
    outcomes.push(result.kind === 'refused' ? result.code : result.kind);
  }
  assert.deepEqual(outcomes, ['INVALID_VARIABLES', 'accepted', 'RATE_LIMIT_EXCEEDED']);
  assert.deepEqual(jobs.slice(0, 2), ['examineVariables', 'examineVariables']);
});

test('a body that takes too much memory is refused in its turn, and counts for the limit of its key', async () => {
  const agent = await addAgent(service);
  const examined = await addAgent(service);
  await pinWith(examined.id, { name: { type: 'string' } });
  const { key } = await service.key({ rateLimits: { ...unlimited, requestsPerDay: 2 } });
  const { admit } = newAdmission(() => Promise.reject(new JobTooLarge()));
  const long: UnparsedBody = {
    ...longBody('{}').body,
    parse: () => Promise.reject(new JobTooLarge()),
  };
  const codes: string[] = [];
  for (const call of [
    { ...callOf(key, agent.id, long), idempotencyKey: 'one' },
    callOf(key, examined.id, bodyOf('{"name":"A"}')),
    callOf(key, agent.id, long),
  ]) {
    const refused = await admit(call);
    codes.push(refused.kind === 'refused' ? refused.code : refused.kind);
  }
  assert.deepEqual(codes, ['BODY_TOO_LARGE', 'BODY_TOO_LARGE', 'RATE_LIMIT_EXCEEDED']);
});

test('a version that is pinned meanwhile is the one that decides', async () => {
  const agent = await addAgent(service);
  await pinWith(agent.id, { name: { type: 'string' } });
  const { key } = await service.key();
  let pinned = false;
  const { admit, jobs } = newAdmission(async () => {
    if (!pinned) await pinWith(agent.id, { name: { type: 'number' } });
    pinned = true;
  });
  const refused = await admit(callOf(key, agent.id, bodyOf('{"name":"A"}')));
  assert.ok(refused.kind === 'refused');
  assert.match(refused.message, /must be number/);
  assert.deepEqual(jobs, ['examineVariables', 'examineVariables']);
});

test('the first call of a key with an idempotency key is hashed once, and its repetition is a replay', async () => {
  const agent = await addAgent(service);
  const { key } = await service.key();
  const { admit } = newAdmission();
  const call = (name: string) => ({
    ...callOf(key, agent.id, bodyOf(`{"name":"${name}"}`)),
    idempotencyKey: 'one',
  });
  const [first, second] = [await admit(call('A')), await admit(call('A'))];
  assert.ok(first.kind === 'accepted' && second.kind === 'accepted');
  assert.deepEqual([first.replayed, second.replayed], [false, true]);
  assert.equal(first.executionId, second.executionId);
  const other = await newAdmission().admit(call('B'));
  assert.ok(other.kind === 'refused');
  assert.equal(other.code, 'IDEMPOTENCY_KEY_REUSED');
});

/** Pins a new version of the same prompt, with schemas. */
async function pinWith(agentId: string, schemas: object): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    insert into prompt_versions (id, prompt_id, workspace_id, number, label, user_template, variables, model, variable_schemas)
    select gen_random_uuid(), prompt_id, workspace_id, number + 1, 'v' || number + 1, user_template, variables, model,
      ${JSON.stringify(schemas)}
    from prompt_versions where id = (select prompt_version_id from agents where id = ${agentId}) returning id`.execute(
    db,
  );
  await sql`update agents set prompt_version_id = ${rows[0]?.id} where id = ${agentId}`.execute(db);
}
