import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type MatchedBudget,
  matchedAtOnce,
} from '../../../src/features/budgets/rules/budget-settings.ts';

/** Budgets in short: `all`, `agents a b`, `key k` that only executes, `issuer k` that may issue keys. */
function matched(...budgets: string[]): number {
  return matchedAtOnce(
    budgets.map((text): MatchedBudget => {
      const [kind, ...names] = text.split(' ');
      const issues = kind === 'issuer';
      const keys = names.map((limitSubject) => ({ limitSubject, issues }));
      return {
        agentIds: kind === 'agents' ? names : null,
        keys: kind === 'key' || issues ? keys : null,
      };
    }),
  );
}

test('budgets for all calls, and for tags, add up', () => {
  assert.equal(matched(), 0);
  assert.equal(matched('all', 'all', 'tag', 'tag'), 4);
});

test('a call has one agent', () => {
  assert.equal(matched('agents a', 'agents b', 'agents c'), 1);
  assert.equal(matched('agents a b', 'agents b c', 'agents c'), 2);
  assert.equal(matched('agents a', 'agents a', 'all', 'key k'), 4);
  assert.equal(matched('agents a a'), 1);
});

test('a call has one key that issues none', () => {
  assert.equal(matched('key k', 'key l', 'key m'), 1);
  assert.equal(matched('key k l', 'key l'), 2);
  // A rotated key and its successor share their limits.
  assert.equal(matched('key k k'), 1);
});

test('a call may count for all keys that issue others, besides its own', () => {
  assert.equal(matched('issuer k', 'issuer l', 'key m', 'key n'), 3);
});

test('a budget for agents and keys counts as one for agents', () => {
  const keys = [{ limitSubject: 'k', issues: true }];
  const both = ['a', 'b', 'b'].map((agent) => ({ agentIds: [agent], keys }));
  assert.equal(matchedAtOnce(both), 2);
});

test('a scope of keys that are gone matches no call', () => {
  assert.equal(matchedAtOnce([{ agentIds: null, keys: [] }]), 0);
});
