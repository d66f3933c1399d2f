import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { inlineCompute } from '../../../harness/inline-compute.ts';
import { testPipelines } from '../../../harness/pipelines.ts';
import { startService } from '../../../harness/service.ts';
import { prices } from '../../../harness/setups.ts';
import { addOpenRun, addWorkflow, step } from '../../../harness/workflow-runs.ts';
import { readVariables } from '../../../src/core/agent/variables.ts';
import type { ExecuteCall } from '../../../src/core/execution/decide.ts';
import { workflowCaller } from '../../../src/core/people/caller.ts';
import { sql } from '../../../src/db/sql.ts';
import { createAdmission } from '../../../src/engine/admit/admit.ts';
import { readConfig } from '../../../src/process/config/config.ts';

/** A paused process calls a step whose fallback has replaced it. */

const service = await startService({ role: 'api' });
const pipelines = testPipelines(service.database.connection);
after(() => pipelines.close());
after(service.close);
const { db, workspaceId } = service;
const agent = await addAgent(service, { user: 'x' });
const workflow = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });
const { testingLimits } = readConfig({});
const notifications = { publish() {} };
const admission = createAdmission({
  ...{ pipelines, testingLimits, slots: null, notifications },
  ...{ compute: inlineCompute, prices, template: () => assert.fail('it was read') },
});

function callOf(runId: string, fallback: boolean): ExecuteCall {
  const caller = workflowCaller({ id: workflow.id, workspaceId, userId: null });
  const stepOf = { runId, step: 'a', item: -1 };
  return {
    credential: {
      ...{ kind: 'workflow', caller, step: stepOf, fallback },
      ...{ apiKeyId: null, maxCostUsd: null },
    },
    agentId: agent.id,
    body: readVariables('{}'),
    idempotencyKey: null,
    idempotencyProblem: null,
    ipAddress: null,
    userAgent: null,
  };
}

test('admission accepts only the call that the step is ready for', async () => {
  const runId = await addOpenRun(db, workflow);
  await sql`
    insert into workflow_steps (run_id, step, item, status, ready_at, variables, agent_id, fallback)
    values (${runId}, 'a', -1, 'ready', clock_timestamp(), '{}', ${agent.id}, true)`.execute(db);
  const stale = await admission.admit(callOf(runId, false));
  assert.equal(stale.kind === 'refused' && stale.code, 'CONFLICT');
  assert.equal((await admission.admit(callOf(runId, true))).kind, 'accepted');
});
