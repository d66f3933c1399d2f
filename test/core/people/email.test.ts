import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEmail } from '../../../src/core/people/email.ts';

const good = ['a@b.co', 'A.b+c_d-e@sub.example.com', "o'neil@example.org", '1@2.museum'];
const bad = [
  ...['', 'a', '@', 'a@b', 'a@b.c', 'a@.co', '.a@b.co', 'a.@b.co', 'a..b@c.co', 'a b@c.co'],
  ...['a@b_c.co', 'a@-b.co', 'a@b.co ', 'a@b.co\n', 'ä@b.co', 'a@[127.0.0.1]', 'a@b@c.co'],
];

for (const text of good) test(`${text} is valid`, () => assert.ok(isEmail(text)));
for (const text of bad) {
  test(`${JSON.stringify(text)} is invalid`, () => assert.ok(!isEmail(text)));
}
