import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';
import { runAll } from '../../../src/engine/transaction/paced-transactions.ts';
import { maintenanceJobs } from '../../../src/process/background-jobs.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { db, workspaceId } = service;
const user = service.ownerId;

test('invitations, attempts, sessions and audit entries lose addresses of people after 90 days', async () => {
  const [older, newer] = [91, 89];
  for (const [name, accepted, days] of [
    ['accepted', true, older],
    ['expired', false, older],
    ['accepted.lately', true, newer],
    ['expired.lately', false, newer],
  ] as const) {
    const at = sql`clock_timestamp() - make_interval(days => ${days})`;
    await sql`
      insert into invitations (id, workspace_id, email, role, token_hash, expires_at, accepted_at)
      values (gen_random_uuid(), ${workspaceId}, ${`${name}@example.com`}, 'viewer', ${Buffer.from(name)},
        ${at}, ${accepted ? at : null})`.execute(db);
  }
  const ms = (days: number) => Date.now() - days * 86_400_000;
  await sql`
    insert into sign_in_attempts (id, key, count, last_request)
    select gen_random_uuid(), 'old' || n, 1, ${ms(older)} from generate_series(1, 250) n`.execute(
    db,
  );
  await sql`
    insert into sessions (id, user_id, token, expires_at, ip_address)
    values (gen_random_uuid(), ${user}, 'ended', clock_timestamp() - interval '1 day', '192.0.2.1'),
      (gen_random_uuid(), ${user}, 'open', clock_timestamp() + interval '1 day', '192.0.2.1')`.execute(
    db,
  );
  for (const email of ['old@example.com', 'new@example.com']) {
    const body = { email, role: 'viewer' };
    const { status } = await service.call('POST', '/api/v1/invitations', { user, body });
    assert.equal(status, 201);
  }
  await sql`
    update audit set at = at - make_interval(days => ${older})
    where personal ->> 'email' = 'old@example.com'`.execute(db);

  await runAll(maintenanceJobs(db));

  const { rows: invitations } = await sql<{ email: string }>`
    select email from invitations order by email`.execute(db);
  assert.deepEqual(
    invitations.map(({ email }) => email),
    ['accepted.lately', 'expired.lately', 'new', 'old'].map((name) => `${name}@example.com`),
  );
  const { rows: attempts } = await sql`select from sign_in_attempts`.execute(db);
  assert.equal(attempts.length, 0);
  const { rows: sessions } = await sql`select token from sessions`.execute(db);
  assert.deepEqual(sessions, [{ token: 'open' }]);
  const { body } = await service.call('GET', '/api/v1/audit?action=invitation.create', { user });
  assert.deepEqual(
    body.audit.map(({ details }: { details: object }) => details),
    [{ role: 'viewer', email: 'new@example.com' }, { role: 'viewer' }],
  );
});
