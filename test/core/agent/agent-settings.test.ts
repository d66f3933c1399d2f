import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type AgentChange,
  changeSettings,
  newSettings,
  requireFit,
} from '../../../src/core/agent/agent-settings.ts';
import { undeclared } from '../../../src/core/agent/prompt.ts';

const version = {
  ...{ label: 'v1', variables: ['a', 'b', 'c', 'd'] },
  ...{
    model: 'cueline/echo',
    temperature: null,
    maxTokens: null,
    topP: null,
    settings: {},
    messageLists: [],
    fileVariables: {},
  },
};

test('a new agent is private by default, unlimited and requires every placeholder', () => {
  assert.deepEqual(newSettings({ name: 'A' }, version), {
    name: 'A',
    slug: '',
    config: {},
    requiredVariables: ['a', 'b', 'c', 'd'],
    optionalVariables: [],
    defaultVariableValues: {},
    visibility: 'private',
    rateLimits: { requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null },
    project: null,
    category: null,
    tags: [],
    description: null,
    allowedOrigins: [],
    retention: { recordsDays: null, bodiesDays: null },
    storeBodies: true,
    allowInstructions: false,
    allowTools: false,
    aliases: [],
    versionAliases: {},
  });
});

test('optional variables and those with a non-null default are not required', () => {
  const settings = newSettings(
    { name: 'A', optionalVariables: ['b', 'x'], defaultVariableValues: { c: 0, d: null } },
    version,
  );
  assert.deepEqual(settings.requiredVariables, ['a', 'd']);
});

test('an explicit list is used unchanged, even if empty', () => {
  const given = newSettings({ name: 'A', requiredVariables: [] }, version);
  assert.deepEqual(given.requiredVariables, []);
});

test('a change merges the config and the limits, and replaces the rest', () => {
  const before = newSettings(
    {
      ...{ name: 'A', config: { model: 'a/b', topP: 0.5 }, tags: ['x', 'y'], project: 'p' },
      ...{ rateLimits: { requestsPerMinute: 1, requestsPerDay: 3 } },
      defaultVariableValues: { a: 1, b: 2 },
    },
    version,
  );
  const change: AgentChange = {
    config: { topP: null, temperature: 1 },
    rateLimits: { requestsPerMinute: null, requestsPerHour: 2 },
    tags: ['z'],
    project: null,
    defaultVariableValues: { c: 3 },
  };
  assert.deepEqual(changeSettings(before, change), {
    ...before,
    config: { model: 'a/b', temperature: 1 },
    rateLimits: { requestsPerMinute: null, requestsPerHour: 2, requestsPerDay: 3 },
    tags: ['z'],
    project: null,
    defaultVariableValues: { c: 3 },
  });
  assert.deepEqual(changeSettings(before, {}), before);
});

test('names of Object.prototype are ordinary variables', () => {
  const defaults = JSON.parse('{"__proto__": 1, "constructor": 2}');
  const settings = newSettings(
    { name: 'A', defaultVariableValues: defaults },
    { ...version, variables: ['__proto__', 'constructor', 'toString'] },
  );
  assert.deepEqual(settings.requiredVariables, ['toString']);
  assert.equal(JSON.stringify(settings.defaultVariableValues), '{"__proto__":1,"constructor":2}');
});

test('rejects a variable in both lists, then a missing model, then undeclared placeholders', () => {
  const bare = { ...version, model: null };
  const wrong = newSettings(
    { name: 'A', requiredVariables: ['a', 'b'], optionalVariables: ['b'] },
    bare,
  );
  assert.throws(() => requireFit(wrong, bare), { code: 'INVALID_REQUEST', message: /: b\.$/ });
  const lists = { ...wrong, optionalVariables: ['d'] };
  assert.throws(() => requireFit(lists, bare), { code: 'INVALID_REQUEST', message: /model/ });
  assert.throws(() => requireFit(lists, version), {
    code: 'UNDECLARED_VARIABLES',
    fields: { undeclaredVariables: ['c'] },
  });
  requireFit({ ...lists, defaultVariableValues: { c: null } }, version);
  requireFit({ ...lists, config: { model: 'a/b' }, optionalVariables: ['c', 'd'] }, bare);
});

test('a new agent without a required list declares each placeholder exactly once', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__'));
  const defaults = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.option(fc.integer()));
  fc.assert(
    fc.property(names, names, defaults, (variables, optionalVariables, defaultVariableValues) => {
      const of = { ...version, variables };
      const settings = newSettings({ name: 'A', optionalVariables, defaultVariableValues }, of);
      requireFit(settings, of);
      assert.deepEqual(undeclared(variables, settings), []);
    }),
  );
});
