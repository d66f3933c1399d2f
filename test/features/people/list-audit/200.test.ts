import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { call } = service;
const user = await service.member('owner');

interface Entry {
  readonly action: string;
  readonly subject: string;
  readonly apiKeyId: string | null;
}

test('each change has an entry, newest first, without secrets', async () => {
  const { agentId, path } = await addAgent(service, { stage: 'Testing' });
  const issuing = { name: 'Site', agentIds: null, permissions: ['manage'], rateLimits: {} };
  const created = await call('POST', '/api/v1/keys', { user, body: issuing });
  const { apiKeyId, key } = created.body;
  await call('PATCH', path, { key, body: { description: 'New.', storeBodies: false } });
  await call('POST', `${path}/lifecycle`, { key, body: { action: 'deploy' } });
  await call('POST', `${path}/lifecycle`, { key, body: { action: 'disable' } });
  await call('DELETE', path, { key });
  const rotated = await call('POST', `/api/v1/keys/${apiKeyId}/rotate`, { user, body: {} });
  await call('POST', `/api/v1/keys/${rotated.body.apiKeyId}/revoke`, { user });
  await call('PUT', '/api/v1/plan', { user, body: { name: 'Team', actionsPerMonth: 5 } });
  const secret = 'sk-never-to-be-seen';
  const provider = { kind: 'openai', apiKey: secret };
  await call('PUT', '/api/v1/providers/own', { user, body: provider });
  await call('DELETE', '/api/v1/providers/own', { user });
  const address = { email: 'sam@example.com', role: 'viewer' };
  const invited = await call('POST', '/api/v1/invitations', { user, body: address });
  await call('DELETE', `/api/v1/invitations/${invited.body.invitationId}`, { user });
  await call('PUT', '/api/v1/retention', { user, body: { recordsDays: 30, bodiesDays: null } });

  const { status, body } = await call('GET', '/api/v1/audit?limit=100', { user });
  assert.equal(status, 200);
  const entries: Entry[] = body.audit;
  assert.deepEqual(
    new Set(entries.map(({ action }) => action)),
    new Set([
      ...['retention.change', 'invitation.delete', 'invitation.create', 'provider.delete'],
      ...['provider.put', 'plan.change', 'key.revoke', 'key.rotate', 'agent.delete', 'agent.move'],
      ...['agent.change', 'key.issue'],
    ]),
  );
  assert.equal(body.pagination.total, 14);
  const text = JSON.stringify(body);
  for (const hidden of [secret, key, rotated.body.key, invited.body.url]) {
    assert.ok(!text.includes(hidden));
  }
  const byKey = entries.filter((entry) => entry.apiKeyId === apiKeyId);
  assert.deepEqual(new Set(byKey.map(({ subject }) => subject)), new Set([agentId]));

  const moves = await call('GET', '/api/v1/audit?action=agent.move&limit=1', { user });
  assert.equal(moves.body.pagination.total, 2);
  assert.deepEqual(moves.body.audit[0].details, { action: 'disable' });
  assert.equal((await call('GET', '/api/v1/audit?action=none', { user })).status, 400);
});

test('a workspace sees only its own entries', async () => {
  const { ownerId } = await service.workspace();
  const { body } = await call('GET', '/api/v1/audit', { user: ownerId });
  assert.deepEqual(body.audit, []);
});

test('filters by user, subject and time', async () => {
  const [first, second] = [await service.member('editor'), await service.member('editor')];
  const one = await addAgent(service, { stage: 'Testing' });
  const other = await addAgent(service, { stage: 'Testing' });
  const deploy = { action: 'deploy' };
  await call('POST', `${one.path}/lifecycle`, { user: first, body: deploy });
  await call('POST', `${one.path}/lifecycle`, { user: second, body: { action: 'disable' } });
  await call('POST', `${other.path}/lifecycle`, { user: first, body: deploy });
  const found = async (query: string): Promise<[string, string][]> => {
    const { status, body } = await call('GET', `/api/v1/audit?${query}`, { user });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.pagination.total, body.audit.length);
    return body.audit.map((entry: { subject: string; details: { action?: string } }) => [
      ...[entry.subject, entry.details.action],
    ]);
  };
  const by = `userId=${toId('user', first)}`;
  assert.deepEqual(await found(by), [
    [other.agentId, 'deploy'],
    [one.agentId, 'deploy'],
  ]);
  assert.deepEqual(await found(`subject=${one.agentId}`), [
    [one.agentId, 'disable'],
    [one.agentId, 'deploy'],
  ]);
  assert.deepEqual(await found(`${by}&subject=${one.agentId}&action=agent.move`), [
    [one.agentId, 'deploy'],
  ]);
  assert.deepEqual(await found(`${by}&endDate=2020-01-01`), []);
  assert.equal((await found(`${by}&startDate=2020-01-01`)).length, 2);
  const { body: newest } = await call('GET', `/api/v1/audit?${by}&limit=1`, { user });
  // The last millisecond of a range belongs to it.
  assert.equal((await found(`${by}&endDate=${newest.audit[0].at}`)).length, 2);
  assert.deepEqual(await found('userId=usr_unknown'), []);
  assert.equal((await call('GET', '/api/v1/audit?startDate=soon', { user })).status, 400);
});
