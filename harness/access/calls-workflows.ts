import { Webhook } from 'standardwebhooks';
import { fromId } from '../../src/core/id.ts';
import { sql } from '../../src/db/sql.ts';
import type { Prepare } from './calls.ts';
import { unique } from './calls-workspace.ts';
import type { AccessFixture } from './fixture.ts';
import { preflight } from './preflight.ts';

/** Workflows, their runs and triggers. Their only step is always skipped, so that a run ends immediately. */

const input = { x: 1 };

/** A call below the path of a workflow. `body` receives its agent. */
function ofWorkflow(below: string, body?: (agentId: string) => object): Prepare {
  return async (fixture, note) => {
    const { workflowId, agentId, path } = await makeWorkflow(fixture, note);
    const more = body && { body: body(agentId) };
    return { path: path + below, agents: [workflowId], ...more };
  };
}

/** A call below the path of a schedule or webhook. */
function ofTrigger(
  kind: 'schedules' | 'webhooks',
  created: object,
  below: string,
  body?: object,
): Prepare {
  return async (fixture, note) => {
    const { workflowId, path } = await makeWorkflow(fixture, note);
    const { scheduleId, webhookId } = await fixture.post(`${path}/${kind}`, created);
    const id = scheduleId ?? webhookId ?? '';
    return {
      path: `${path}/${kind}/${id}${below}`,
      agents: [workflowId, id],
      ...(body && { body }),
    };
  };
}

function ofRun(below: string, { isEnded = false } = {}): Prepare {
  return async (fixture, note, { keyId }) => {
    const { workflowId, path } = await makeWorkflow(fixture, note);
    const { workflowRunId = '' } = await fixture.post(`${path}/execute`, { input });
    const own = note.includes('own ') ? keyId : null;
    const state = isEnded
      ? sql``
      : sql`status = 'processing', completed_at = null, output = null,
        deadline_at = clock_timestamp() + interval '1 day',`;
    await sql`
      update workflow_runs set ${state} api_key_id = ${own}
      where id = ${fromId('workflowRun', workflowRunId)}`.execute(fixture.environment.db);
    return { path: `${path}/runs/${workflowRunId}${below}`, agents: [workflowId, workflowRunId] };
  };
}

/** A run whose only step had a failed item. */
const ofFailedItem: Prepare = async (fixture, note, caller) => {
  const call = await ofRun('/steps/never/rerun', { isEnded: true })(fixture, note, caller);
  const runId = fromId('workflowRun', call.agents?.[1] ?? '');
  await sql`
    with parent as (
      update workflow_steps set status = 'success', items_count = 1 where run_id = ${runId} and step = 'never')
    insert into workflow_steps (run_id, step, item, status, error_code, error, completed_at)
    values (${runId}, 'never', 0, 'failed', 'PROVIDER_ERROR', 'It failed.', clock_timestamp())`.execute(
    fixture.environment.db,
  );
  return call;
};

const schedule = { cron: '0 0 1 1 *' };
const webhook = { name: 'Shop' };
const oneSchedule = '/api/v1/workflows/{workflowId}/schedules/{scheduleId}';

export const workflowCalls: Readonly<Record<string, Prepare>> = {
  async 'POST /api/v1/workflows'(fixture, note) {
    const { agentId } = await fixture.agent(note);
    return {
      path: '/api/v1/workflows',
      body: { name: unique(), definition: skippedStep(agentId) },
    };
  },
  async 'GET /api/v1/workflows'(fixture, note) {
    const one = await makeWorkflow(fixture, note);
    const hidden = await makeWorkflow(fixture, 'private, untied');
    const path = '/api/v1/workflows?limit=100';
    return { path, agents: [one.workflowId], privateAgents: [hidden.workflowId] };
  },
  async 'POST /api/v1/workflows/validate'(fixture, note) {
    const { agentId } = await fixture.agent(note);
    return { path: '/api/v1/workflows/validate', body: { definition: skippedStep(agentId) } };
  },
  'OPTIONS /api/v1/workflows/{workflowId}': preflight(ofWorkflow('')),
  'OPTIONS /api/v1/workflows/{workflowId}/*': preflight(ofWorkflow('/execute')),
  'GET /api/v1/workflows/{workflowId}': ofWorkflow(''),
  'PATCH /api/v1/workflows/{workflowId}': ofWorkflow('', () => ({ description: unique() })),
  'DELETE /api/v1/workflows/{workflowId}': ofWorkflow(''),
  'GET /api/v1/workflows/{workflowId}/pins': ofWorkflow('/pins'),
  'GET /api/v1/workflows/{workflowId}/versions': ofWorkflow('/versions'),
  'POST /api/v1/workflows/{workflowId}/versions': ofWorkflow('/versions', (agentId) => ({
    definition: skippedStep(agentId),
  })),
  async 'GET /api/v1/workflows/{workflowId}/versions/{workflowVersionId}'(fixture, note) {
    const { workflowVersionId, path } = await makeWorkflow(fixture, note);
    return { path: `${path}/versions/${workflowVersionId}`, agents: [workflowVersionId] };
  },
  'POST /api/v1/workflows/{workflowId}/execute': ofWorkflow('/execute', () => ({ input })),
  async 'POST /api/workflows/{workflowId}/execute'(fixture, note) {
    const { workflowId, path } = await makeWorkflow(fixture, note);
    const unversioned = `${path.replace('/v1', '')}/execute`;
    return { path: unversioned, agents: [workflowId], body: { input } };
  },
  'GET /api/v1/workflows/{workflowId}/runs': ofWorkflow('/runs'),
  'GET /api/v1/workflows/{workflowId}/runs/{workflowRunId}': ofRun(''),
  'GET /api/v1/workflows/{workflowId}/runs/{workflowRunId}/steps/{stepName}/items':
    ofRun('/steps/never/items'),
  'POST /api/v1/workflows/{workflowId}/runs/{workflowRunId}/steps/{stepName}/rerun': ofFailedItem,
  'POST /api/v1/workflows/{workflowId}/runs/{workflowRunId}/cancel': ofRun('/cancel'),
  // The stream of a run that has not ended would not end either.
  'GET /api/v1/workflows/{workflowId}/runs/{workflowRunId}/stream': ofRun('/stream', {
    isEnded: true,
  }),
  'POST /api/v1/workflows/{workflowId}/schedules': ofWorkflow('/schedules', () => schedule),
  'GET /api/v1/workflows/{workflowId}/schedules': ofWorkflow('/schedules'),
  [`GET ${oneSchedule}`]: ofTrigger('schedules', schedule, ''),
  [`PATCH ${oneSchedule}`]: ofTrigger('schedules', schedule, '', { enabled: false }),
  [`DELETE ${oneSchedule}`]: ofTrigger('schedules', schedule, ''),
  'POST /api/v1/workflows/{workflowId}/webhooks': ofWorkflow('/webhooks', () => webhook),
  'GET /api/v1/workflows/{workflowId}/webhooks': ofWorkflow('/webhooks'),
  'POST /api/v1/workflows/{workflowId}/webhooks/{webhookId}/rotate': ofTrigger(
    'webhooks',
    webhook,
    '/rotate',
  ),
  'GET /api/v1/workflows/{workflowId}/webhooks/{webhookId}/log': ofTrigger(
    'webhooks',
    webhook,
    '/log',
  ),
  'DELETE /api/v1/workflows/{workflowId}/webhooks/{webhookId}': ofTrigger('webhooks', webhook, ''),
  async 'POST /api/v1/webhooks/{webhookId}'(fixture, note) {
    const { path } = await makeWorkflow(fixture, '');
    const { secret = '', webhookId } = await fixture.post(`${path}/webhooks`, webhook);
    const at = new Date();
    const id = unique();
    const signature = new Webhook(secret).sign(id, at, JSON.stringify(input));
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': note === 'not signed' ? 'v1,AAAA' : signature,
    };
    return { path: `/api/v1/webhooks/${webhookId}`, body: input, headers };
  },
  'GET /api/v1/declaration': async () => ({ path: '/api/v1/declaration' }),
  'POST /api/v1/declaration': async (_, note) => ({
    path: '/api/v1/declaration',
    body: {
      declaration: { prompts: [{ name: unique(), versions: [] }] },
      ...(note === 'dry run' && { dryRun: true }),
    },
  }),
};

function skippedStep(agentId: string) {
  return {
    input: { optional: ['x'] },
    steps: [{ name: 'never', agentId, variables: { name: 'you' }, when: 'false' }],
  };
}

async function makeWorkflow(fixture: AccessFixture, note: string) {
  const untied = note.includes('untied');
  const { agentId } = untied ? await fixture.privateAgent() : await fixture.agent(note);
  const body = { name: unique(), definition: skippedStep(agentId) };
  const created = await fixture.post('/api/v1/workflows', body);
  const { workflowId = '', workflowVersionId = '' } = created;
  return { workflowId, workflowVersionId, agentId, path: `/api/v1/workflows/${workflowId}` };
}
