import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startMailServer } from '../../../harness/mail-server.ts';
import { startService } from '../../../harness/service.ts';
import { mailsPerDayMax, resetMailsMax } from '../../../src/core/people/mail.ts';
import { openInvitationsMax } from '../../../src/core/people/member.ts';
import { inTransaction } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { takeMails } from '../../../src/features/people/statements/mails.ts';

const mailServer = await startMailServer();
const publicUrl = 'https://cueline.example';
const config = { smtp: { url: mailServer.url, from: 'cueline@example.com' }, publicUrl };
const service = await startService({ publicUrl, config });
const second = await startService({ sharedWith: service, publicUrl, config });
after(async () => {
  await second.close();
  await service.close();
  await mailServer.close();
});
const { db } = service;

async function addWorkspace(via = service) {
  const { workspaceId, ownerId } = await service.workspace();
  const { key } = await service.key({ workspaceId, userId: ownerId });
  const invite = (email: string, at = via) =>
    at.call('POST', '/api/v1/invitations', { key, body: { email, role: 'viewer' } });
  return { workspaceId, invite };
}

/** Of tomorrow, as if the clock had been ahead: it counts on both sides of a midnight during the test. */
async function setSent(workspaceId: string, sent: number): Promise<void> {
  await sql`
    insert into mail_counts (workspace_id, day, sent)
    values (${workspaceId}, (clock_timestamp() at time zone 'UTC')::date + 1, ${sent})
    on conflict (workspace_id) do update set day = excluded.day, sent = excluded.sent`.execute(db);
}

const take = (workspaceId: string, wanted: number) =>
  inTransaction(db, (trx) => takeMails(trx, workspaceId, wanted));

test('a workspace has at most a hundred open invitations, however many arrive at once', async () => {
  const { workspaceId, invite } = await addWorkspace();
  await sql`
    insert into invitations (id, workspace_id, email, role, token_hash, expires_at)
    select gen_random_uuid(), ${workspaceId}, 'person' || n || '@example.com', 'viewer',
      sha256(n::text::bytea), clock_timestamp() + interval '1 day'
    from generate_series(1, ${openInvitationsMax - 2}) as n`.execute(db);
  // An expired one does not count.
  await sql`
    insert into invitations (id, workspace_id, email, role, token_hash, expires_at)
    values (gen_random_uuid(), ${workspaceId}, 'late@example.com', 'viewer', sha256('late'), clock_timestamp())`.execute(
    db,
  );
  const responses = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => invite(`new${n}@example.com`, n % 2 === 0 ? second : service)),
  );
  const refused = responses.filter(({ status }) => status !== 201);
  assert.equal(refused.length, 3);
  for (const { status, body } of refused) {
    assert.deepEqual([status, body.code], [409, 'CONFLICT']);
    assert.match(body.message, /at most 100 open invitations/);
  }
  assert.equal((await invite('person1@example.com')).status, 201, 'it replaces one');
});

test('a workspace sends at most 500 mails a day, counted for all processes', async () => {
  const { workspaceId, invite } = await addWorkspace();
  await setSent(workspaceId, mailsPerDayMax - 2);
  const before = mailServer.mails.length;
  const responses = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => invite(`mail${n}@example.com`, n % 2 === 0 ? second : service)),
  );
  const refused = responses.filter(({ status }) => status !== 201);
  assert.equal(refused.length, 3);
  for (const { status, body, headers } of refused) {
    assert.deepEqual([status, body.code], [429, 'RATE_LIMIT_EXCEEDED']);
    assert.ok(body.retryAfter >= 1 && body.retryAfter <= 86_400);
    assert.equal(headers.get('retry-after'), String(body.retryAfter));
  }
  await mailServer.received(before + 2);
  assert.equal(mailServer.mails.length, before + 2);
  const { rows } = await sql`
    select from invitations where workspace_id = ${workspaceId}`.execute(db);
  assert.equal(rows.length, 2, 'a refused invitation does not exist');
  const other = await addWorkspace();
  assert.equal((await other.invite('mail1@example.com')).status, 201);
});

test('mails of alerts count, and are limited too', async () => {
  const { workspaceId } = await addWorkspace();
  await setSent(workspaceId, mailsPerDayMax - 5);
  const taken = await Promise.all([3, 3, 3].map((wanted) => take(workspaceId, wanted)));
  assert.equal(
    taken.reduce((sum, one) => sum + one, 0),
    5,
  );
  await sql`update mail_counts set day = day - 2 where workspace_id = ${workspaceId}`.execute(db);
  assert.equal(await take(workspaceId, 3), 3, 'another day');
  await sql`
    update mail_counts set day = day + 2, sent = ${mailsPerDayMax} where workspace_id = ${workspaceId}`.execute(
    db,
  );
  assert.equal(await take(workspaceId, 1), 0, 'the clock was ahead');
});

test('a reset of a password is sent though the mails of the workspace are used up', async () => {
  const { email } = await service.signIn('owner');
  await setSent(service.workspaceId, mailsPerDayMax);
  const before = mailServer.mails.length;
  const request = (at: typeof service, address: string) =>
    fetch(`${at.url}/api/auth/request-password-reset`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: address }),
    });
  for (let n = 0; n < resetMailsMax + 2; n++) {
    assert.equal((await request(n % 2 === 0 ? service : second, email)).status, 200);
  }
  // Mails are sent after the response; each is counted before.
  const counted = async () => {
    const { rows } = await sql<{ count: number }>`
      select count from sign_in_attempts where key = ${`everywhere|mail|${email}`}`.execute(db);
    return rows[0]?.count;
  };
  while ((await counted()) !== resetMailsMax + 2);
  const { email: other } = await service.signIn('viewer');
  assert.equal((await request(service, other)).status, 200);
  const sent = (await mailServer.received(before + resetMailsMax + 1)).slice(before);
  assert.deepEqual(
    sent.map(({ to }) => to[0]).toSorted(),
    [...Array<string>(resetMailsMax).fill(email), other].toSorted(),
  );
});
