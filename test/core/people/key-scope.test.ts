import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { noLimits } from '../../../src/core/execution/limits.ts';
import { permissions } from '../../../src/core/people/key.ts';
import { excess, type IssuerScope, type KeyScope } from '../../../src/core/people/key-scope.ts';

const own: IssuerScope = {
  rights: ['execute', 'manage'],
  allAgents: false,
  limits: { requestsPerMinute: 10, requestsPerHour: 100, requestsPerDay: null },
  expiresAtMs: Date.UTC(2030, 0, 1),
};
const same: KeyScope = {
  permissions: ['execute', 'manage'],
  allAgents: false,
  limits: own.limits,
  expiresAtMs: own.expiresAtMs,
};

const cases: [string, Partial<KeyScope>, RegExp | null][] = [
  ['just as far', {}, null],
  ['less permissions', { permissions: ['execute'] }, null],
  ['another permission', { permissions: ['read'] }, /"read"/],
  ['the whole workspace', { allAgents: true }, /whole workspace/],
  ['a lower limit', { limits: { ...own.limits, requestsPerMinute: 0 } }, null],
  ['a limit where its issuer has none', { limits: { ...own.limits, requestsPerDay: 1 } }, null],
  [
    'a higher limit',
    { limits: { ...own.limits, requestsPerHour: 101 } },
    /"requestsPerHour".* 100/,
  ],
  [
    'no limit where its issuer has one',
    { limits: { ...own.limits, requestsPerMinute: null } },
    /"requestsPerMinute".* 10/,
  ],
  ['an earlier end', { expiresAtMs: Date.UTC(2029, 0, 1) }, null],
  ['a later end', { expiresAtMs: Date.UTC(2030, 0, 2) }, /2030-01-01T00:00:00.000Z/],
  ['no end', { expiresAtMs: null }, /2030-01-01T00:00:00.000Z/],
];
for (const [what, asked, expected] of cases) {
  test(`a key that reaches for ${what} is ${expected ? 'too wide' : 'no wider'}`, () => {
    const message = excess({ ...same, ...asked }, own);
    if (expected) assert.match(message ?? '', expected);
    else assert.equal(message, null);
  });
}

test('nothing is too wide for a session that has all rights', () => {
  const session = { rights: permissions, allAgents: true, limits: noLimits, expiresAtMs: null };
  fc.assert(fc.property(scope, (asked) => assert.equal(excess(asked, session), null)));
});

test('a key may issue its like, and by way of another none that it could not issue itself', () => {
  fc.assert(
    fc.property(scope, scope, scope, (a, b, c) => {
      assert.equal(excess(a, issuer(a)), null);
      if (excess(a, issuer(b)) ?? excess(b, issuer(c))) return;
      assert.equal(excess(a, issuer(c)), null);
    }),
    { numRuns: 5_000 },
  );
});

const window = fc.option(fc.nat(2));
const scope: fc.Arbitrary<KeyScope> = fc.record({
  permissions: fc.subarray([...permissions], { minLength: 1 }),
  allAgents: fc.boolean(),
  limits: fc.record({
    requestsPerMinute: window,
    requestsPerHour: window,
    requestsPerDay: window,
  }),
  expiresAtMs: fc.option(fc.nat(2)),
});

function issuer({ permissions: rights, ...rest }: KeyScope): IssuerScope {
  return { ...rest, rights };
}
