import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { startService } from '../../harness/service.ts';
import { toId } from '../../src/core/id.ts';
import type { Permission } from '../../src/core/people/key.ts';

/** `own` and `manage` are separate: neither includes the other. */

const service = await startService();
after(service.close);
const agent = await addAgent(service);

const calls: [method: string, path: string, body: object | undefined, Permission[]][] = [
  ['GET', '/api/v1/members', undefined, ['manage', 'own']],
  ['GET', '/api/v1/providers', undefined, ['manage', 'own']],
  ['GET', '/api/v1/prices', undefined, ['manage', 'own']],
  ['GET', '/api/v1/retention', undefined, ['manage', 'own']],
  ['POST', '/api/v1/invitations', { email: 'new@example.com', role: 'owner' }, ['own']],
  ['GET', '/api/v1/invitations', undefined, ['own']],
  ['PUT', '/api/v1/plan', { name: 'P', actionsPerMonth: null }, ['own']],
  ['PUT', '/api/v1/providers/mine', { kind: 'openai', apiKey: 'sk-x' }, ['own']],
  ['DELETE', '/api/v1/providers/mine', undefined, ['own']],
  ['PUT', '/api/v1/prices', { model: 'a/b', inputPerMillion: '1', outputPerMillion: '1' }, ['own']],
  ['DELETE', '/api/v1/prices?model=a%2Fb', undefined, ['own']],
  ['PUT', '/api/v1/retention', { recordsDays: 30, bodiesDays: null }, ['own']],
  ['POST', '/api/v1/erasures', { field: 'user', value: 'x' }, ['own']],
  ['GET', '/api/v1/erasures', undefined, ['own']],
  ['GET', '/api/v1/audit', undefined, ['own']],
  ['GET', '/api/v1/agents', undefined, ['manage']],
  ['GET', '/api/v1/prompts', undefined, ['manage']],
  ['GET', '/api/v1/keys', undefined, ['manage']],
  ['GET', '/api/v1/usage', undefined, ['manage']],
  ['POST', '/api/v1/keys', { name: 'K', agentIds: null, permissions: ['manage'] }, ['manage']],
  ['GET', '/api/v1/executions', undefined, ['read']],
  ['POST', `${agent.path}/execute`, { variables: { name: 'x' } }, ['execute']],
];
for (const [method, path, body, needed] of calls) {
  test(`${method} ${path.split('?')[0]} takes ${needed.join(' or ')}`, async () => {
    for (const permission of ['own', 'manage'] as const) {
      const { key } = await service.key({ permissions: [permission] });
      const { status } = await service.call(method, path, { key, ...(body && { body }) });
      const isDenied = status === 403;
      assert.equal(isDenied, !needed.includes(permission), `${permission}: ${status}`);
    }
  });
}

test('a key with "manage" of an owner can neither invite, promote nor remove anybody', async () => {
  const userId = await service.member('editor');
  const { key } = await service.key({ permissions: ['execute', 'read', 'cancel', 'manage'] });
  const path = `/api/v1/members/${toId('user', userId)}`;
  const body = { role: 'owner' };
  assert.equal((await service.call('PATCH', path, { key, body })).status, 403);
  assert.equal((await service.call('DELETE', path, { key })).status, 403);
});

test('"own" ends when the issuer is no owner any more', async () => {
  const userId = await service.member('owner');
  const { key } = await service.key({ userId, permissions: ['own', 'read'] });
  const audit = () => service.call('GET', '/api/v1/audit', { key });
  assert.equal((await audit()).status, 200);
  const path = `/api/v1/members/${toId('user', userId)}`;
  const body = { role: 'editor' };
  await service.call('PATCH', path, { user: service.ownerId, body });
  assert.equal((await audit()).status, 403);
});
