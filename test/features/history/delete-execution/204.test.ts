import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../../harness/agents.ts';
import { miscounted } from '../../../../harness/records.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId, toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { db, call } = service;
const { key } = await service.key();

test('the record remains only in the statistics, and the audit log has a line', async () => {
  const agent = await addAgent(service);
  const [kept, gone] = [await run(service, agent, key), await run(service, agent, key)];
  const user = await service.member('editor');
  const path = `${agent.path}/executions/${gone.executionId}`;
  const response = await call('DELETE', path, { user });
  assert.equal(response.status, 204);

  assert.equal((await call('GET', path, { key })).status, 404);
  assert.equal((await call('DELETE', path, { key })).status, 404);
  const { body } = await call('GET', `${agent.path}/executions`, { key });
  assert.equal(body.pagination.total, 1);
  assert.equal(body.executions[0].executionId, kept.executionId);
  assert.deepEqual(await miscounted(db), []);
  const { rows } = await sql`
    select sum(occurred)::int as occurred from statistics
    where agent_id = ${agent.id} and level = 'day'`.execute(db);
  assert.deepEqual(rows, [{ occurred: 2 }]);

  const owner = await service.member('owner');
  const { body: audit } = await call('GET', '/api/v1/audit?action=execution.delete', {
    user: owner,
  });
  const [line] = audit.audit;
  assert.deepEqual(
    { ...line, auditId: null, at: null },
    {
      ...{ auditId: null, at: null, action: 'execution.delete', subject: gone.executionId },
      ...{ userId: toId('user', user), apiKeyId: null, via: null },
      details: { agentId: agent.agentId },
    },
  );
});

test('concurrent deletions delete once', async () => {
  const agent = await addAgent(service);
  const { executionId } = await run(service, agent, key);
  const path = `${agent.path}/executions/${executionId}`;
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => call('DELETE', path, { key })),
  );
  const statuses = responses.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 204).length, 1);
  assert.ok(
    statuses.every((status) => [204, 404, 409].includes(status)),
    statuses.join(),
  );
  assert.deepEqual(await miscounted(db), []);
  const { rows } = await sql`
    select from audit where subject = ${executionId} and action = 'execution.delete'`.execute(db);
  assert.equal(rows.length, 1);
  assert.ok(fromId('execution', executionId));
});
