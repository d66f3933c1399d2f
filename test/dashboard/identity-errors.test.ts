import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalOf } from '../../dashboard/pages/sign-in/identity-errors.ts';

test('shows only our own messages for identity errors', () => {
  assert.match(refusalOf('signup_disabled'), /Ask an owner to invite you/);
  const forged = 'Your account is locked. Call 555';
  assert.equal(refusalOf(forged), refusalOf('constructor'));
  assert.doesNotMatch(refusalOf(forged), /555/);
});
