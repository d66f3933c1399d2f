import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { addAlert, addCalls } from '../../../harness/alerts.ts';
import { startMailServer } from '../../../harness/mail-server.ts';
import { startService } from '../../../harness/service.ts';
import { inTransaction } from '../../../src/db/database.ts';
import { sql } from '../../../src/db/sql.ts';
import { queueMails } from '../../../src/features/people/statements/mails.ts';
import { sendMails } from '../../../src/features/people/verbs/send-mails.ts';

const mailServer = await startMailServer();
const publicUrl = 'https://cueline.example';
const smtp = { url: mailServer.url, from: 'cueline@example.com' };
const service = await startService({ publicUrl, config: { smtp, publicUrl } });
after(async () => {
  await service.close();
  await mailServer.close();
});
const { key } = await service.key();

test('owners get one mail when an alert fires', async () => {
  const agent = await addAgent(service);
  await service.member('owner');
  await service.member('editor');
  const { rows } = await sql<{ email: string }>`
    select email from users u join members m on m.user_id = u.id where role = 'owner' order by email`.execute(
    service.db,
  );
  const alert = await addAlert(service, key, { name: 'Failures' });
  await addCalls(service, agent.id, 2, { status: 'failed', errorCode: 'PROVIDER_ERROR' });
  for (;;) {
    const { body } = await service.call('GET', alert.path, { key });
    if (body.state === 'firing') break;
    // As if the minute had just ended: the service evaluates it.
    await sql`update alerts set evaluated_to = null where state <> 'firing'`.execute(service.db);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const mails = await mailServer.received(rows.length);
  assert.deepEqual(
    mails.flatMap(({ to }) => to).toSorted(),
    rows.map(({ email }) => email),
  );
  assert.match(mails[0]?.text ?? '', /^Subject: Alert fired: Failures$/m);
  assert.match(mails[0]?.text ?? '', /failureRate is 1, the threshold is 0\.5\./);
  assert.match(mails[0]?.text ?? '', /^https:\/\/cueline\.example\/settings\/alerts$/m);
});

test('an invitation is sent to the invited address', async () => {
  const invite = (email: string) =>
    service.call('POST', '/api/v1/invitations', { key, body: { email, role: 'viewer' } });
  const before = mailServer.mails.length;
  const { body } = await invite('new@example.com');
  assert.equal(body.emailed, true);
  const mail = (await mailServer.received(before + 1)).at(-1);
  assert.deepEqual(mail?.to, ['new@example.com']);
  assert.ok(mail?.text.includes(body.url));
  mailServer.isRejecting = true;
  const rejected = await invite('other@example.com');
  mailServer.isRejecting = false;
  assert.deepEqual([rejected.status, rejected.body.emailed], [201, false]);
  assert.match(JSON.stringify(service.faults.splice(0)), /invitation mail failed/);
});

test('a mail is tried five times', async () => {
  const { db } = service;
  const tried: string[] = [];
  const errors: unknown[] = [];
  const failing = async ({ to }: { readonly to: string }) => {
    tried.push(to);
    throw new Error('refused');
  };
  const onError = (error: unknown) => errors.push(error);
  // Not due yet for the service, which sends mails too.
  await sql`alter table mails alter due_at set default 'infinity'`.execute(db);
  await inTransaction(db, (trx) =>
    queueMails(trx, [{ to: 'failing@example.com', subject: 'S', text: 'T' }]),
  );
  for (let n = 0; n < 7; n++) {
    await inTransaction(db, async (trx) => {
      await sql`update mails set due_at = '-infinity'`.execute(trx);
      await sendMails({ db: trx, send: failing, onError });
    });
  }
  assert.equal(tried.length, 5);
  assert.equal(errors.length, 5);
});
