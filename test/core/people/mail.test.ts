import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertMail, invitationMail } from '../../../src/core/people/mail.ts';

const name = 'Win\r\nBcc: all@evil.example https://evil.example\u202e';
const url = 'https://cueline.example/x';

test('names in a mail are plain text on one line; only its own address is a link', () => {
  const alert = { metric: 'count', threshold: 1, value: null, isFiring: true };
  for (const { subject, text } of [
    invitationMail('ada@example.com', { workspaceName: name, role: 'viewer', url }),
    alertMail('ada@example.com', { ...alert, name, workspaceName: name, url }),
  ]) {
    assert.doesNotMatch(subject, /[\r\n\u202e]/);
    for (const part of [subject, text.replace(url, '')]) {
      assert.doesNotMatch(part, /https:|evil\.example|all@|\u202e/);
    }
    assert.ok(text.includes(`\n${url}`));
  }
});
