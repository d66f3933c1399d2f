import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { permissions } from '../../../src/core/people/key.ts';
import { hasRight, keyRights, roles, sees } from '../../../src/core/people/member.ts';

test('roles have the expected rights', () => {
  const of = Object.fromEntries(
    roles.map((role) => [role, permissions.filter((right) => hasRight(role, right))]),
  );
  assert.deepEqual(of, {
    owner: ['execute', 'read', 'cancel', 'manage', 'own'],
    editor: ['execute', 'read', 'cancel', 'manage'],
    viewer: ['read'],
  });
});

test('a key has its own permissions, limited to those of its issuer', () => {
  const keyPermissions = fc.subarray([...permissions]);
  fc.assert(
    fc.property(keyPermissions, fc.constantFrom(...roles), (granted, role) => {
      const may = keyRights(granted, role);
      for (const right of permissions) {
        assert.equal(may.includes(right), granted.includes(right) && hasRight(role, right));
      }
    }),
  );
});

const visibilities = [
  // role, own agent, visibility, sees
  ['owner', false, 'private', true],
  ['editor', true, 'private', true],
  ['editor', false, 'private', false],
  ['editor', false, 'public', true],
  ['viewer', true, 'private', true],
  ['viewer', false, 'private', false],
  ['viewer', false, 'public', true],
] as const;
for (const [role, own, visibility, seen] of visibilities) {
  test(`${role} ${seen ? 'sees' : 'does not see'} ${own ? 'their own' : "another's"} ${visibility} agent`, () => {
    assert.equal(sees({ userId: 'me', role }, { visibility, createdBy: own ? 'me' : 'you' }), seen);
  });
}

test('a removed creator and a removed issuer do not match', () => {
  const agent = { visibility: 'private', createdBy: null } as const;
  assert.equal(sees({ userId: null, role: 'editor' }, agent), false);
  assert.equal(sees({ userId: null, role: 'owner' }, agent), true);
});
