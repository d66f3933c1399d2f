import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityErrorMessage } from '../../dashboard/pages/sign-in/identity-errors.ts';

test('shows only our own messages for identity errors', () => {
  assert.match(identityErrorMessage('signup_disabled'), /Ask an owner to invite you/);
  const forged = 'Your account is locked. Call 555';
  assert.equal(identityErrorMessage(forged), identityErrorMessage('constructor'));
  assert.doesNotMatch(identityErrorMessage(forged), /555/);
});
