import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { permissions } from '../../../src/core/people/key.ts';
import { hasRight, keyRights, roles, sees } from '../../../src/core/people/member.ts';

test('a viewer reads, an editor also edits and executes, an owner also owns', () => {
  const of = Object.fromEntries(
    roles.map((role) => [role, permissions.filter((right) => hasRight(role, right))]),
  );
  assert.deepEqual(of, {
    owner: ['execute', 'read', 'cancel', 'manage', 'own'],
    editor: ['execute', 'read', 'cancel', 'manage'],
    viewer: ['read'],
  });
});

test('a key may do what it carries, as far as its issuer still may', () => {
  const carried = fc.subarray([...permissions]);
  fc.assert(
    fc.property(carried, fc.constantFrom(...roles), (held, role) => {
      const may = keyRights(held, role);
      for (const right of permissions) {
        assert.equal(may.includes(right), held.includes(right) && hasRight(role, right));
      }
    }),
  );
});

const sights = [
  // role, own agent, visibility, sees
  ['owner', false, 'private', true],
  ['editor', true, 'private', true],
  ['editor', false, 'private', false],
  ['editor', false, 'public', true],
  ['viewer', true, 'private', true],
  ['viewer', false, 'private', false],
  ['viewer', false, 'public', true],
] as const;
for (const [role, own, visibility, seen] of sights) {
  test(`${role} ${seen ? 'sees' : 'does not see'} ${own ? 'their own' : "another's"} ${visibility} agent`, () => {
    assert.equal(sees({ userId: 'me', role }, { visibility, createdBy: own ? 'me' : 'you' }), seen);
  });
}

test('an agent whose creator is gone belongs to nobody, not to a key whose issuer is gone', () => {
  const agent = { visibility: 'private', createdBy: null } as const;
  assert.equal(sees({ userId: null, role: 'editor' }, agent), false);
  assert.equal(sees({ userId: null, role: 'owner' }, agent), true);
});
