import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { inlineCompute } from '../../../harness/inline-compute.ts';
import { startService } from '../../../harness/service.ts';
import { interceptedDb } from '../../../harness/silent-db.ts';
import { addWorkflow, step } from '../../../harness/workflow-runs.ts';
import { sql } from '../../../src/db/sql.ts';
import { planDeclaration } from '../../../src/features/declaration/verbs/plan-declaration.ts';
import { readDeclaration } from '../../../src/features/declaration/verbs/read-declaration.ts';
import { findSessionCaller } from '../../../src/features/people/statements/callers.ts';

const service = await startService();
after(service.close);
const { db } = service;

/** An agent and a prompt with unique names. */
async function named() {
  const agent = await addAgent(service);
  await sql`
    with renamed as (update agents set name = id::text where id = ${agent.id} returning prompt_id)
    update prompts p set name = p.id::text from renamed where p.id = renamed.prompt_id`.execute(db);
  return agent;
}

test('planning reads only what the declaration names', async () => {
  const caller = await findSessionCaller(db, service.ownerId, null);
  if (!caller) throw new Error('the owner does not exist');
  const [called, fallback] = [await named(), await named()];
  const instead = { agentId: fallback.agentId, variables: { name: 'x' } };
  const first = step({ name: 'a', agent: called, variables: { name: 'y' }, fallback: instead });
  await addWorkflow(service, { steps: [first] });
  const { declaration } = await readDeclaration(db, caller);
  for (let n = 0; n < 30; n++) {
    const agent = await named();
    await addWorkflow(service, { steps: [step({ name: 'a', agent })] });
  }

  let read = 0;
  const counting = interceptedDb(db, async (statement, run) => {
    const result = await run(statement);
    read += result.rows.length;
    return result;
  });
  const plan = (declared: Parameters<typeof planDeclaration>[2]) =>
    counting.transaction((trx) =>
      planDeclaration({ trx, compute: inlineCompute, sealKey: Buffer.alloc(32) }, caller, declared),
    );
  assert.deepEqual((await plan({ workflows: declaration.workflows })).changes, []);
  assert.ok(read < 10, `${read} rows`);
  read = 0;
  assert.deepEqual((await plan({ agents: declaration.agents })).changes, []);
  assert.ok(read < 20, `${read} rows`);
});
