import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { noLimits } from '../../../src/core/agent/limits.ts';
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
  ['the same scope', {}, null],
  ['fewer permissions', { permissions: ['execute'] }, null],
  ['another permission', { permissions: ['read'] }, /"read"/],
  ['the whole workspace', { allAgents: true }, /whole workspace/],
  ['a lower limit', { limits: { ...own.limits, requestsPerMinute: 0 } }, null],
  ['a limit where the issuer has none', { limits: { ...own.limits, requestsPerDay: 1 } }, null],
  [
    'a higher limit',
    { limits: { ...own.limits, requestsPerHour: 101 } },
    /"requestsPerHour".* 100/,
  ],
  [
    'no limit where the issuer has one',
    { limits: { ...own.limits, requestsPerMinute: null } },
    /"requestsPerMinute".* 10/,
  ],
  ['an earlier expiry', { expiresAtMs: Date.UTC(2029, 0, 1) }, null],
  ['a later expiry', { expiresAtMs: Date.UTC(2030, 0, 2) }, /2030-01-01T00:00:00.000Z/],
  ['no expiry', { expiresAtMs: null }, /2030-01-01T00:00:00.000Z/],
];
for (const [what, change, expected] of cases) {
  test(`a key with ${what} ${expected ? 'exceeds its issuer' : 'is within its issuer'}`, () => {
    const message = excess({ ...same, ...change }, own);
    if (expected) assert.match(message ?? '', expected);
    else assert.equal(message, null);
  });
}

test('no key exceeds a session with all rights', () => {
  const session = { rights: permissions, allAgents: true, limits: noLimits, expiresAtMs: null };
  fc.assert(fc.property(scope, (key) => assert.equal(excess(key, session), null)));
});

test('a key may issue an equal key; "may issue" is transitive', () => {
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
