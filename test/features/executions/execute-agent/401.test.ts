import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const agent = await addAgent(service);
const execute = (key: string, path = agent.path) =>
  service.call('POST', `${path}/execute`, { key, body: { variables: { name: 'x' } } });

async function records(): Promise<{ status: string; errorCode: string }[]> {
  const { rows } = await sql<{ status: string; errorCode: string }>`
    select status::text as status, error_code from executions order by id`.execute(service.db);
  return rows;
}

const past = new Date(Date.now() - 86_400_000);
const known: [string, object][] = [
  ['revoked', { revokedAt: past }],
  ['expired', { expiresAt: past }],
];
for (const [what, options] of known) {
  test(`rejects a key that is ${what}, and records it even if its issuer cannot see the agent`, async () => {
    const editor = await service.member('editor');
    const { key } = await service.key({ ...options, userId: editor });
    const hidden = await addAgent(service, { visibility: 'private' });
    const before = (await records()).length;
    assert.equal((await execute(key, hidden.path)).status, 401);
    assert.equal((await records()).length, before + 1);
  });

  test(`rejects a key that is ${what}, and records it under the agent`, async () => {
    const { key } = await service.key(options);
    const before = (await records()).length;
    assert.equal((await execute(key)).status, 401);
    assert.deepEqual((await records()).slice(before), [
      { status: 'unauthorized', errorCode: 'KEY_NOT_AUTHORIZED' },
    ]);
    assert.equal((await execute(key, '/api/v1/agents/nothing')).status, 401);
    assert.equal((await records()).length, before + 1);
  });
}

test('rejects a key whose issuer is no longer a member', async () => {
  const editor = await service.member('editor');
  const { key } = await service.key({ userId: editor });
  assert.equal((await execute(key)).status, 202);
  await sql`delete from members where user_id = ${editor}`.execute(service.db);
  assert.equal((await execute(key)).status, 401);
});

test('sixty refusals of one key per hour become records, and all are counted', async () => {
  const busy = await addAgent(service);
  const { key } = await service.key({ revokedAt: past });
  await Promise.all(Array.from({ length: 70 }, () => execute(key, busy.path)));
  const { rows } = await sql<{ recorded: number; occurred: number; rows: number }>`
    select sum(recorded)::int as recorded, sum(occurred)::int as occurred,
      (select count(*) from executions where agent_id = ${busy.id}) as rows
    from statistics where agent_id = ${busy.id} and level = 'day'`.execute(service.db);
  assert.deepEqual(rows[0], { recorded: 60, occurred: 70, rows: 60 });
});
