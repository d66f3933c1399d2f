import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/me/dismissals';

async function dismiss(cookie: string, body: object) {
  const response = await service.call('PUT', path, { cookie, body });
  assert.equal(response.status, 200);
  return response.body;
}

const dismissed = async (cookie: string) =>
  (await service.call('GET', '/api/v1/me', { cookie })).body.dismissed;

test('a notice is dismissed for this member only, for good or until shown again', async () => {
  const [one, other] = [await service.signIn('viewer'), await service.signIn('viewer')];
  const firstSteps = { notice: 'firstSteps', until: null };
  assert.deepEqual(await dismiss(one.cookie, { notice: 'firstSteps', days: null }), firstSteps);
  assert.deepEqual(await dismissed(one.cookie), [firstSteps]);
  assert.deepEqual(await dismissed(other.cookie), []);
  await dismiss(one.cookie, { notice: 'firstSteps', days: 0 });
  assert.deepEqual(await dismissed(one.cookie), []);
});

test('a postponed notice returns at the time of the response', async () => {
  const { cookie, userId } = await service.signIn('owner');
  const postponed = await dismiss(cookie, { notice: 'generatedPassword', days: 7 });
  assert.deepEqual(await dismissed(cookie), [postponed]);
  const { rows } = await sql<{ days: number }>`
    select round(extract(epoch from until - clock_timestamp()) / 86400)::int as days
    from dismissals where user_id = ${userId}`.execute(service.db);
  assert.deepEqual(rows, [{ days: 7 }]);
  await sql`
    update dismissals set until = clock_timestamp() where user_id = ${userId}`.execute(service.db);
  assert.deepEqual(await dismissed(cookie), []);
});

test('dismissals end with the membership', async () => {
  const { cookie, userId } = await service.signIn('viewer');
  await dismiss(cookie, { notice: 'firstSteps', days: null });
  await sql`delete from members where user_id = ${userId}`.execute(service.db);
  const { rows } = await sql`select from dismissals where user_id = ${userId}`.execute(service.db);
  assert.equal(rows.length, 0);
});

test('a risk can only be postponed', async () => {
  const { cookie } = await service.signIn('owner');
  const body = { notice: 'generatedPassword', days: null };
  const { status } = await service.call('PUT', path, { cookie, body });
  assert.equal(status, 400);
  assert.deepEqual(await dismissed(cookie), []);
});
