import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySetup, prices } from '../../../harness/setups.ts';
import {
  type CallBody,
  type ComparedFormats,
  compareFormats,
} from '../../../src/core/agent/conversation.ts';
import { type Counts, keyDefaultLimits, noLimits } from '../../../src/core/agent/limits.ts';
import { parseExecuteBody, type UnparsedBody } from '../../../src/core/agent/variables.ts';
import { decide, type Facts } from '../../../src/core/execution/decide.ts';
import { toId } from '../../../src/core/id.ts';
import type { Caller } from '../../../src/core/people/caller.ts';
import { readCall } from '../../../src/faces/openai/read-call.ts';
import { decideStart } from '../../../src/features/workflows/rules/decide-start.ts';

/** The order of the checks is part of the API. Each case violates its own check and all later ones. */

const nowMs = Date.UTC(2026, 10, 21, 12, 0, 30);
const fresh = () => ({ minute: 0, minuteUsed: 0, hour: 0, hourUsed: 0, day: 0, dayUsed: 0 });
const used = (n: number) => ({ ...fresh(), minute: Math.floor(nowMs / 60_000), minuteUsed: n });

const keyId = '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41';
const windowsOf = (counts: Counts) => [{ apiKeyId: keyId, limits: keyDefaultLimits, counts }];

const caller: Caller = {
  kind: 'key',
  id: keyId,
  workspaceId: 'here',
  userId: 'user',
  role: 'editor',
  rights: ['execute', 'read'],
  ended: false,
  allAgents: false,
  agentIds: ['agent'],
  limits: keyDefaultLimits,
  countedKeys: [{ apiKeyId: keyId, limitSubject: keyId, limits: keyDefaultLimits }],
  allowedOrigins: [],
};
const agent: NonNullable<Facts['agent']> = {
  id: 'agent',
  workspaceId: 'here',
  name: 'Agent',
  stage: 'Deployed',
  archived: false,
  apiEnabled: true,
  visibility: 'public',
  createdBy: 'user',
  limits: noLimits,
  config: {},
  requiredVariables: ['topic'],
  optionalVariables: ['tone'],
  defaults: { style: 'plain' },
  storeBodies: true,
  allowedOrigins: [],
  versionId: 'version',
  versionLabel: 'v1',
  version: { model: 'cueline/echo', temperature: null, maxTokens: null, topP: null, settings: {} },
  messageLists: [],
  fileVariables: {},
  variableSchemas: null,
  setup: emptySetup,
  promptId: 'prompt',
  versionNumber: 1,
  allowInstructions: false,
  allowTools: false,
  versionAliases: {},
  responseFormat: null,
  formatText: null,
  isBudgeted: false,
  toolNames: [],
  boundValues: null,
};
const good = (): Facts => ({
  nowMs,
  caller,
  keyWindows: windowsOf(fresh()),
  windows: null,
  agent,
  agentCounts: fresh(),
  month: { actionsPerMonth: 1_000, month: 0, used: 0 },
  testingLimits: { requestsPerMinute: 10, requestsPerHour: 500, requestsPerDay: 10_000 },
  call: callOf(parseExecuteBody('{"variables":{"topic":"tides"}}')),
  idempotencyProblem: null,
  replay: null,
  prices,
});
const callOf = (body: CallBody): Facts['call'] => ({ body, idempotencyKey: null });

/** From the first check to the last: the violation, the code of the refusal, and the error code of its record. */
const checks: [string, (facts: Facts) => Facts, string, string | null][] = [
  [
    'the key was revoked',
    (f) => ({ ...f, caller: { ...f.caller, ended: true } }),
    'UNAUTHORIZED',
    'KEY_NOT_AUTHORIZED',
  ],
  [
    'the key exceeded its minute limit',
    (f) => ({ ...f, keyWindows: windowsOf(used(100)) }),
    'RATE_LIMIT_EXCEEDED',
    'RATE_LIMIT_EXCEEDED',
  ],
  [
    'the idempotency key was used with another body',
    (f) => ({ ...f, replay: { sameBody: false } }),
    'IDEMPOTENCY_KEY_REUSED',
    null,
  ],
  [
    'the agent is in another workspace',
    (f) => ({ ...f, agent: { ...agent, workspaceId: 'there' } }),
    'NOT_FOUND',
    null,
  ],
  [
    'the key is limited to other agents',
    (f) => ({ ...f, caller: { ...f.caller, agentIds: [] } }),
    'UNAUTHORIZED',
    'KEY_NOT_AUTHORIZED',
  ],
  [
    'the key may not execute',
    (f) => ({ ...f, caller: { ...f.caller, rights: ['read'] } }),
    'PERMISSION_DENIED',
    null,
  ],
  [
    'the agent is paused',
    (f) => ({ ...f, agent: f.agent && { ...f.agent, stage: 'Paused' } }),
    'AGENT_NOT_ACTIVE',
    'AGENT_NOT_ACTIVE',
  ],
  [
    'the agent exceeded its minute limit',
    (f) => ({
      ...f,
      agent: f.agent && { ...f.agent, limits: { ...noLimits, requestsPerMinute: 5 } },
      agentCounts: used(5),
    }),
    'RATE_LIMIT_EXCEEDED',
    'RATE_LIMIT_EXCEEDED',
  ],
  [
    'the body is malformed',
    (f) => ({ ...f, call: callOf(parseExecuteBody('{')) }),
    'MALFORMED_BODY',
    null,
  ],
  [
    'the monthly quota is exhausted',
    (f) => ({ ...f, month: { actionsPerMonth: 0, month: 0, used: 0 } }),
    'QUOTA_EXCEEDED',
    'QUOTA_EXCEEDED',
  ],
];

for (const [index, [what, , code, record]] of checks.entries()) {
  test(`${code} if ${what}, even if later checks fail too`, () => {
    const facts = checks.slice(index).reduceRight((all, [, violate]) => violate(all), good());
    const decision = decide(facts);
    assert.ok(decision.kind === 'refused');
    assert.equal(decision.code, code);
    if (decision.record) assert.equal(decision.record.errorCode, record);
    // A record needs an agent, which later violations remove; each check is therefore tested alone as well.
    const alone = decide(checks[index]?.[1](good()) ?? good());
    assert.equal(alone.kind === 'refused' && alone.code, code);
    assert.equal((alone.kind === 'refused' && alone.record?.errorCode) || null, record);
  });
}

test('an accepted call increments every counter', () => {
  const facts = good();
  const decision = decide(facts);
  assert.equal(decision.kind, 'accepted');
  assert.equal(facts.keyWindows[0]?.counts.minuteUsed, 1);
  assert.equal(facts.agentCounts?.dayUsed, 1);
  assert.equal(facts.month.used, 1);
});

test('a call counts for the keys that issued its key, and for none if one of them is full', () => {
  const parentId = '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e42';
  const limits = { ...noLimits, requestsPerMinute: 2 };
  const parent = { apiKeyId: parentId, limits, counts: used(1) };
  const own = { apiKeyId: keyId, limits: keyDefaultLimits, counts: used(0) };
  const counted = [own, parent].map((key) => ({ ...key, limitSubject: key.apiKeyId }));
  const facts: Facts = {
    ...good(),
    caller: { ...caller, countedKeys: counted },
    keyWindows: [own, parent],
  };
  assert.equal(decide(facts).kind, 'accepted');
  assert.deepEqual([own.counts.minuteUsed, parent.counts.minuteUsed], [1, 2]);
  const refused = decide(facts);
  assert.ok(refused.kind === 'refused');
  assert.deepEqual([own.counts.minuteUsed, parent.counts.minuteUsed], [1, 2]);
  assert.deepEqual(refused.fields.rateLimits, limits);
  assert.deepEqual(refused.fields.limitedBy, {
    ...{ scope: 'key', apiKeyId: toId('key', parentId), window: 'minute', limit: 2 },
    resetAt: new Date(nowMs + 30_000).toISOString(),
  });
});

test('a key and its predecessor in the chain that share their counts spend them once', () => {
  const counts = used(0);
  const keys = [keyId, '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e43'];
  const keyWindows = keys.map((apiKeyId) => ({ apiKeyId, limits: noLimits, counts }));
  assert.equal(decide({ ...good(), keyWindows }).kind, 'accepted');
  assert.equal(counts.minuteUsed, 1);
});

test('a refused call increments only the counters of the checks it passed', () => {
  const violations: [string, (f: Facts) => Facts, number, number, number][] = [
    ['revoked', (f) => ({ ...f, caller: { ...f.caller, ended: true } }), 0, 0, 0],
    ['unknown agent', (f) => ({ ...f, agent: null, agentCounts: null }), 1, 0, 0],
    ['paused agent', (f) => ({ ...f, agent: { ...agent, stage: 'Paused' } }), 1, 0, 0],
    [
      'missing variables',
      (f) => ({ ...f, call: callOf(parseExecuteBody('{"variables":{}}')) }),
      1,
      1,
      0,
    ],
    ['malformed body', (f) => ({ ...f, call: callOf(parseExecuteBody('')) }), 1, 1, 0],
  ];
  for (const [what, violate, key, ofAgent, actions] of violations) {
    const facts = violate(good());
    assert.equal(decide(facts).kind, 'refused', what);
    assert.equal(facts.keyWindows[0]?.counts.minuteUsed, key, what);
    assert.equal(facts.agentCounts?.minuteUsed ?? 0, ofAgent, what);
    assert.equal(facts.month.used, actions, what);
  }
});

test('a body is asked for only if no earlier check refuses the call', () => {
  const parse = () => assert.fail('parsed while it was decided');
  const body: UnparsedBody = { kind: 'unparsed', chars: 1, parse };
  const idempotent = { body, idempotencyKey: 'same' };
  const refused: Partial<Facts>[] = [
    { caller: { ...caller, ended: true } },
    { caller: { ...caller, role: null } },
    { keyWindows: windowsOf(used(100)) },
    { idempotencyProblem: 'too long' },
  ];
  const decisions = (facts: Facts) => {
    const { nowMs: at, caller: of, keyWindows, idempotencyProblem, replay } = facts;
    const call = { ...idempotent, digest: null };
    const start = { nowMs: at, caller: of, keyWindows, idempotencyProblem, replay, call };
    const kinds = [
      decide(facts).kind,
      decideStart({ ...start, workflow: null, isLimitKept: true }).kind,
    ];
    return [...new Set(kinds)];
  };
  for (const replay of [null, { sameBody: null }]) {
    for (const wrong of refused) {
      assert.deepEqual(decisions({ ...good(), call: idempotent, ...wrong, replay }), ['refused']);
    }
  }
  const replay = { sameBody: null };
  assert.deepEqual(decisions({ ...good(), call: idempotent, replay }), ['unprepared']);
});

test('a replay counts towards the limit of the key, but not the quota', () => {
  const facts = { ...good(), replay: { sameBody: true } };
  assert.equal(decide(facts).kind, 'replayed');
  assert.equal(facts.keyWindows[0]?.counts.minuteUsed, 1);
  assert.equal(facts.month.used, 0);
});

test('a required variable is not satisfied by a default, by null or by an ignored name', () => {
  const facts: Facts = {
    ...good(),
    agent: { ...agent, requiredVariables: ['topic', 'style'] },
    call: callOf(parseExecuteBody('{"variables":{"topic":null,"Topic":"x"}}')),
  };
  const decision = decide(facts);
  assert.ok(decision.kind === 'refused');
  assert.equal(decision.code, 'MISSING_VARIABLES');
  assert.deepEqual(decision.fields, {
    missingVariables: ['topic', 'style'],
    requiredVariables: ['topic', 'style'],
  });
});

test('undeclared variables are listed as ignored', () => {
  const body = parseExecuteBody(
    '{"variables":{"topic":"x","tone":"y","style":"z","other":1,"more":null}}',
  );
  const decision = decide({ ...good(), call: callOf(body) });
  assert.ok(decision.kind === 'accepted');
  assert.deepEqual(decision.ignoredVariables, ['other', 'more']);
});

test('in Testing the lower limit of agent and stage applies and is named', () => {
  const testing = { ...agent, stage: 'Testing' as const };
  const stage = decide({ ...good(), agent: testing, agentCounts: used(10) });
  assert.ok(stage.kind === 'refused');
  assert.equal((stage.fields.limitedBy as { scope: string }).scope, 'stage');
  const limits = { ...noLimits, requestsPerMinute: 3 };
  const own = decide({ ...good(), agent: { ...testing, limits }, agentCounts: used(3) });
  assert.ok(own.kind === 'refused');
  assert.deepEqual(own.fields.limitedBy, {
    ...{ scope: 'agent', window: 'minute', limit: 3 },
    resetAt: new Date(nowMs + 30_000).toISOString(),
  });
});

test('a session executes in every stage unless the agent is archived', () => {
  const session: Caller = { ...caller, kind: 'session', allAgents: true };
  for (const stage of ['Draft', 'Testing', 'Deployed', 'Paused'] as const) {
    const facts = {
      ...good(),
      caller: session,
      keyWindows: [],
      agent: { ...agent, stage, apiEnabled: false },
    };
    assert.equal(decide(facts).kind, 'accepted', stage);
  }
  const archived = decide({
    ...good(),
    caller: session,
    keyWindows: [],
    agent: { ...agent, archived: true },
  });
  assert.ok(archived.kind === 'refused');
  assert.equal(archived.code, 'AGENT_NOT_ACTIVE');
});

test('a private agent of another member is not found for the key of an editor', () => {
  const hidden = { ...agent, visibility: 'private' as const, createdBy: 'other' };
  const decision = decide({ ...good(), agent: hidden });
  assert.ok(decision.kind === 'refused');
  assert.equal(decision.code, 'NOT_FOUND');
  assert.equal(
    decide({ ...good(), agent: hidden, caller: { ...caller, role: 'owner' } }).kind,
    'accepted',
  );
});

test('schemas are never compared here: a call comes back until they were', () => {
  const own = { type: 'object', properties: { city: { type: 'string' } } };
  const formatText = JSON.stringify({ type: 'json', schema: own });
  const asking = (schema: object): Facts['call'] => {
    const text = JSON.stringify({
      ...{ model: 'agent', input: 'tides' },
      text: { format: { type: 'json_schema', name: 'a', schema } },
    });
    const read = readCall({ api: 'responses', sent: text, items: null });
    assert.ok(read.kind === 'call');
    return callOf(read.call.conversation);
  };
  const decided = (call: Facts['call'], compared: ComparedFormats | null = null) => {
    const preparation = { digest: null, examined: null, compared };
    return decide({ ...good(), agent: { ...agent, formatText }, call: { ...call, preparation } });
  };
  assert.equal(decided(asking(own)).kind, 'accepted');
  for (const [schema, kind] of [
    [{ ...own, title: 'City' }, 'accepted'],
    [{ ...own, required: ['city'] }, 'refused'],
  ] as const) {
    const call = asking(schema);
    assert.equal(decided(call).kind, 'unprepared');
    const formats = { kind: 'formats', own: formatText, asked: JSON.stringify(schema) } as const;
    const compared = compareFormats(formats);
    assert.equal(decided(call, compared).kind, kind);
    // The agent has another format by now.
    assert.equal(decided(call, { ...compared, own: '{}' }).kind, 'unprepared');
  }
});
