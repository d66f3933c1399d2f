import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/invitations';

test('lists the open invitations of the workspace', async () => {
  const { key } = await service.key();
  const invite = (email: string, secret = key) =>
    service.call('POST', path, { key: secret, body: { email, role: 'viewer' } });
  const { workspaceId, ownerId } = await service.workspace();
  const elsewhere = await service.key({ workspaceId, userId: ownerId });
  await invite('elsewhere@example.com', elsewhere.key);
  for (const email of ['first@example.com', 'second@example.com']) await invite(email);
  await invite('expired@example.com');
  await sql`
    update invitations set expires_at = 'epoch' where email = 'expired@example.com'`.execute(
    service.db,
  );
  await invite('accepted@example.com');
  await sql`
    update invitations set accepted_at = clock_timestamp()
    where email = 'accepted@example.com'`.execute(service.db);
  const { status, body } = await service.call('GET', path, { key });
  assert.equal(status, 200);
  assert.deepEqual(
    body.invitations.map(({ email }: { email: string }) => email),
    ['first@example.com', 'second@example.com'],
  );
});
