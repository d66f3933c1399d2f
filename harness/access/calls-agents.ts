import { fromId, toId, uuid7 } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import type { Prepare } from './calls.ts';
import type { AccessFixture } from './fixture.ts';
import { preflight, preflightHeaders } from './preflight.ts';

/** Agents, their executions and their prompts. */

const variables = { name: 'you' };

/** A call below the path of an agent. */
function ofAgent(below: string, body?: object): Prepare {
  return async (fixture, note) => {
    const { agentId, path } = await fixture.agent(note);
    return { path: path + below, agents: [agentId], ...(body && { body }) };
  };
}

function ofExecution(below: string): Prepare {
  return async (fixture, note, { keyId }) => {
    const agent = await fixture.agent(note);
    const executionId = await fixture.execute(agent, note.includes('own ') ? keyId : null);
    const path = `${agent.path}/executions/${executionId}${below}`;
    return { path, agents: [agent.agentId, executionId] };
  };
}

const line = '{"id":"1","variables":{"name":"you"}}';

/** A batch whose only line waits for ever. */
function ofBatch(below: string): Prepare {
  return async (fixture, note, { keyId }) => {
    const { id, agentId, path } = await fixture.agent(note);
    const batchId = uuid7(Date.now());
    await sql`
      with batch as (
        insert into batches (id, workspace_id, agent_id, prompt_version_id, caller, api_key_id, status, digest, total,
          waiting, next_at)
        select ${batchId}, workspace_id, id, prompt_version_id, ${batchId}, ${note.includes('own ') ? keyId : null},
          'processing', '', 1, 1, 'infinity' from agents where id = ${id} returning id)
      insert into batch_lines (batch_id, line, id, status, variables)
      select id, 1, '1', 'waiting', '{"name":"you"}' from batch`.execute(fixture.environment.db);
    const wireId = toId('batch', batchId);
    return { path: `${path}/batches/${wireId}${below}`, agents: [agentId, wireId] };
  };
}

/** The same once its line has failed. */
const ofFailedBatch: Prepare = async (fixture, note, caller) => {
  const call = await ofBatch('/rerun')(fixture, note, caller);
  const { db } = fixture.environment;
  const [, , agent = '', , batch = ''] = call.path.split('/').slice(2);
  const agentId = fromId('agent', agent);
  const executionId = await fixture.execute({ path: `/api/v1/agents/${agent}` }, null);
  await end(fixture, executionId);
  const [id, batchId] = [fromId('execution', executionId), fromId('batch', batch)];
  await sql`
    update executions set status = 'failed', error_code = 'PROVIDER_ERROR' where id = ${id} and agent_id = ${agentId}`.execute(
    db,
  );
  await sql`
    update batch_lines set status = 'failed', variables = null, execution_id = ${id} where batch_id = ${batchId}`.execute(
    db,
  );
  await sql`
    update batches set status = 'completed', waiting = 0, failed = 1, completed_at = clock_timestamp()
    where id = ${batchId}`.execute(db);
  return call;
};

/** Two records: one of a public agent and one of a private agent. */
function ofAll(path: string): Prepare {
  return async (fixture, note) => {
    const [open, hidden] = [await fixture.agent(note), await fixture.privateAgent()];
    const records = [await fixture.execute(open, null), await fixture.execute(hidden, null)];
    for (const record of records) await end(fixture, record);
    const [one, other] = records as [string, string];
    return { path, agents: [open.agentId, one], privateAgents: [hidden.agentId, other] };
  };
}

/** Ends an execution like a cancel. */
async function end({ environment: { db } }: AccessFixture, executionId: string): Promise<void> {
  const id = fromId('execution', executionId);
  await sql`
    with live as (delete from execution_queue where id = ${id} returning *),
    ended as (
      insert into executions (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, executed_at,
        completed_at, status, source, agent_name, prompt_version_label, model, input_variables, error_code, error)
      select id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, executed_at, clock_timestamp(),
        'canceled', source, agent_name, prompt_version_label, model, input_variables, 'CANCELED', 'Canceled.'
      from live returning agent_id, id_time(id) as at, status, source)
    insert into statistics as s (agent_id, level, bucket, status, source, occurred, recorded, input_tokens,
      output_tokens, cost_usd, latency)
    select agent_id, level, date_trunc(level, at, 'UTC'), status, source, 1, 1, 0, 0, 0, '{}'
    from ended cross join unnest(array['minute', 'hour', 'day']) as level
    on conflict (agent_id, level, bucket, status, source) do update
      set occurred = s.occurred + 1, recorded = s.recorded + 1`.execute(db);
}

/** A call below the path of an agent's prompt. */
function ofPrompt(below: string, body?: object): Prepare {
  return async (fixture, note) => {
    const { promptId } = await pinned(fixture, note);
    const path = `/api/v1/prompts/${promptId}${below}`;
    return { path, agents: [promptId], ...(body && { body }) };
  };
}

const unversioned = (path: string) => path.replace('/v1', '');

export const agentCalls: Readonly<Record<string, Prepare>> = {
  'GET /api/v1/agents/{agentId}/limits': ofAgent('/limits'),
  'GET /api/v1/agents/{agentId}/refusals': ofAgent('/refusals'),
  'POST /api/v1/agents/{agentId}/estimate': ofAgent('/estimate', { variables }),
  'POST /api/v1/agents/{agentId}/execute': ofAgent('/execute', { variables }),
  'GET /api/v1/agents/{agentId}/executions/{executionId}': ofExecution(''),
  'GET /api/v1/agents/{agentId}/executions/{executionId}/events': ofExecution('/events'),
  'GET /api/v1/agents/{agentId}/executions/{executionId}/steps': ofExecution('/steps'),
  'POST /api/v1/agents/{agentId}/executions/{executionId}/cancel': ofExecution('/cancel'),
  // The stream of an execution that has not ended would not end either.
  async 'GET /api/v1/agents/{agentId}/executions/{executionId}/stream'(fixture, note, caller) {
    const call = await ofExecution('/stream')(fixture, note, caller);
    await end(fixture, call.path.split('/').at(-2) ?? '');
    return call;
  },
  async 'DELETE /api/v1/agents/{agentId}/executions/{executionId}'(fixture, note, caller) {
    const call = await ofExecution('')(fixture, note, caller);
    await end(fixture, call.path.split('/').at(-1) ?? '');
    return call;
  },
  async 'POST /api/v1/agents/{agentId}/batches'(fixture, note) {
    const { agentId, path } = await fixture.agent(note);
    const headers = { 'content-type': 'application/jsonl' };
    return { path: `${path}/batches`, agents: [agentId], headers, body: line };
  },
  'GET /api/v1/agents/{agentId}/batches': ofAgent('/batches'),
  'GET /api/v1/agents/{agentId}/batches/{batchId}': ofBatch(''),
  'GET /api/v1/agents/{agentId}/batches/{batchId}/results': ofBatch('/results'),
  'POST /api/v1/agents/{agentId}/batches/{batchId}/rerun': ofFailedBatch,
  'POST /api/v1/agents/{agentId}/batches/{batchId}/cancel': ofBatch('/cancel'),
  'GET /api/v1/agents/{agentId}/executions/export': ofAgent('/executions/export'),
  'GET /api/v1/executions': ofAll('/api/v1/executions?limit=100'),
  'GET /api/v1/executions/export': ofAll('/api/v1/executions/export'),
  'GET /api/v1/sessions': ofAll('/api/v1/sessions'),
  'GET /api/v1/agents/{agentId}/executions': ofAgent('/executions'),
  async 'GET /api/agents/{agentId}/executions'(fixture, note) {
    const { agentId, path } = await fixture.agent(note);
    return { path: `${unversioned(path)}/executions`, agents: [agentId] };
  },
  async 'POST /api/agents/{agentId}/execute'(fixture, note) {
    const { agentId, path } = await fixture.agent(note);
    return { path: `${unversioned(path)}/execute`, agents: [agentId], body: { variables } };
  },
  'GET /api/v1/agents/{agentId}/statistics': ofAgent('/statistics'),
  async 'GET /api/v1/statistics'(fixture, note) {
    const [one, hidden] = [await fixture.agent(note), await fixture.privateAgent()];
    await sql`
      insert into statistics (agent_id, level, bucket, status, source, occurred, recorded, input_tokens,
      output_tokens, cost_usd, latency)
      select id, 'day', date_trunc('day', clock_timestamp(), 'UTC'), 'success', 'api', 1, 1, 0, 0, 0, '{}'
      from unnest(${[one.id, hidden.id]}::uuid[]) as id`.execute(fixture.environment.db);
    return {
      path: '/api/v1/statistics?groupBy=agent',
      agents: [one.agentId],
      privateAgents: [hidden.agentId],
    };
  },
  async 'POST /api/v1/agents'(fixture, note) {
    const { promptId, promptVersionId } = await pinned(fixture, note);
    const body = { agentName: 'New', promptId, promptVersionId };
    return { path: '/api/v1/agents', body, agents: [promptId] };
  },
  async 'GET /api/v1/agents'(fixture, note) {
    const [one, hidden] = [await fixture.agent(note), await fixture.privateAgent()];
    return {
      path: '/api/v1/agents?limit=100',
      agents: [one.agentId],
      privateAgents: [hidden.agentId],
    };
  },
  'GET /api/v1/agents/{agentId}': ofAgent(''),
  'PATCH /api/v1/agents/{agentId}': ofAgent('', { description: 'Changed.' }),
  async 'DELETE /api/v1/agents/{agentId}'(fixture, note) {
    const { id, agentId, path } = await fixture.agent(note);
    await sql`update agents set stage = 'Testing' where id = ${id}`.execute(fixture.environment.db);
    return { path, agents: [agentId] };
  },
  'POST /api/v1/agents/{agentId}/lifecycle': ofAgent('/lifecycle', { action: 'disable' }),
  'GET /api/v1/agents/{agentId}/pins': ofAgent('/pins'),
  async 'GET /api/v1/pins'(fixture) {
    const [one, hidden] = [await fixture.agent(''), await fixture.agent('private')];
    return {
      path: '/api/v1/pins?limit=100',
      agents: [one.agentId],
      privateAgents: [hidden.agentId],
    };
  },
  'OPTIONS /api/v1/agents/{agentId}': preflight(ofAgent('')),
  'OPTIONS /api/v1/agents/{agentId}/*': preflight(ofAgent('/execute')),
  async 'OPTIONS /api/agents/{agentId}/*'(fixture, note) {
    const { path } = await fixture.agent(note);
    return { path: `${unversioned(path)}/execute`, headers: preflightHeaders };
  },

  async 'POST /api/v1/prompts'() {
    return { path: '/api/v1/prompts', body: { name: 'New' } };
  },
  async 'GET /api/v1/prompts'(fixture, note) {
    const { promptId } = await pinned(fixture, note);
    return { path: '/api/v1/prompts?limit=100', agents: [promptId] };
  },
  'GET /api/v1/prompts/{promptId}': ofPrompt(''),
  'PATCH /api/v1/prompts/{promptId}': ofPrompt('', { name: 'Changed' }),
  'POST /api/v1/prompts/{promptId}/archive': ofPrompt('/archive'),
  async 'POST /api/v1/prompts/{promptId}/restore'(fixture, note, caller) {
    const call = await ofPrompt('/restore')(fixture, note, caller);
    await sql`
      update prompts set archived_at = clock_timestamp()
      where id = (select prompt_id from agents order by id desc limit 1)`.execute(
      fixture.environment.db,
    );
    return call;
  },
  'POST /api/v1/prompts/{promptId}/versions': ofPrompt('/versions', { user: 'Hi {{name}}' }),
  'GET /api/v1/prompts/{promptId}/versions': ofPrompt('/versions'),
  async 'GET /api/v1/prompts/{promptId}/versions/{promptVersionId}'(fixture, note) {
    const { promptId, promptVersionId } = await pinned(fixture, note);
    const path = `/api/v1/prompts/${promptId}/versions/${promptVersionId}`;
    return { path, agents: [promptVersionId] };
  },
};

/** The wire ids of an agent's prompt and version. */
async function pinned(fixture: AccessFixture, note: string) {
  const { id, promptVersionId } = await fixture.agent(note);
  const { rows } = await sql<{ promptId: string }>`
    select prompt_id from agents where id = ${id}`.execute(fixture.environment.db);
  if (note === 'prompt private') {
    await sql`
      update prompts set visibility = 'private' where id = ${rows[0]?.promptId}`.execute(
      fixture.environment.db,
    );
  }
  return { promptId: toId('prompt', rows[0]?.promptId ?? ''), promptVersionId };
}
