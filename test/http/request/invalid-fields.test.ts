import assert from 'node:assert/strict';
import { parse } from 'node:querystring';
import { test } from 'node:test';
import { type EndpointId, endpoints } from '../../../src/faces/reference/operations-index.ts';
import {
  type HistoryQuery,
  readHistory,
} from '../../../src/features/history/routes/history-query.ts';
import type { Endpoint } from '../../../src/http/contract/operation.ts';
import { checkQuery, noFields, readFields } from '../../../src/http/request/validate.ts';

/**
 * Bodies and queries that an operation refuses, and what the message names. That an operation checks its body and query
 * at all, and stores nothing, is tested by `refusals.test.ts`.
 */

type Wrong = readonly [what: string, difference: object, named: RegExp];

const long = 'x'.repeat(201);
const numbered = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'v']));
const agent = { agentName: 'A', promptId: 'prm_x', promptVersionId: 'ver_x' };
const erasure = { variable: 'customer', value: 'c1' };
const plan = { name: 'Team', actionsPerMonth: 5 };
const notice = { notice: 'firstSteps', days: null };
const version = { user: 'x' };
const price = { model: 'a/b', inputPerMillion: '1', outputPerMillion: '2' };
const invitation = { email: 'new@example.com', role: 'viewer' };
const step = { name: 's', agentId: 'agt_x' };

const wrongBodies: Partial<Record<EndpointId, readonly [valid: object, ...Wrong[]]>> = {
  createAgent: [
    agent,
    ['no name', { agentName: undefined }, /"agentName"/],
    ['a name of blanks', { agentName: '  ' }, /"agentName"/],
    ['a name of 201 characters', { agentName: long }, /"agentName"/],
    ['no prompt', { promptId: undefined }, /"promptId"/],
    ['no version', { promptVersionId: undefined }, /"promptVersionId"/],
    ['an identifier that is no text', { promptId: 5 }, /"promptId"/],
    ['an unknown setting', { agentConfig: { thinking: 1 } }, /agentConfig\.thinking/],
    ['a setting of null', { agentConfig: { topP: null } }, /agentConfig\.topP/],
    ['no attempts', { agentConfig: { maxAttempts: 0 } }, /maxAttempts/],
    ['six attempts', { agentConfig: { maxAttempts: 6 } }, /maxAttempts/],
    ['a timeout below a second', { agentConfig: { timeoutMs: 999 } }, /timeoutMs/],
    ['a timeout above an hour', { agentConfig: { timeoutMs: 3_600_001 } }, /timeoutMs/],
    ['no run at once', { agentConfig: { maxConcurrency: 0 } }, /maxConcurrency/],
    ['a temperature above 2', { agentConfig: { temperature: 2.5 } }, /temperature/],
    ['no models', { agentConfig: { models: [] } }, /models/],
    ['the same model twice', { agentConfig: { models: ['a/b', 'a/b'] } }, /models/],
    [
      'a fallback after a refused key',
      { agentConfig: { fallbackOn: ['PROVIDER_AUTH'] } },
      /fallbackOn/,
    ],
    ['a short attempt', { agentConfig: { attemptTimeoutMs: 999 } }, /attemptTimeoutMs/],
    ['a model without a provider', { agentConfig: { model: 'gpt' } }, /model/],
    ['a variable with a blank', { requiredVariables: ['a b'] }, /requiredVariables/],
    ['a variable named twice', { optionalVariables: ['a', 'a'] }, /optionalVariables/],
    ['a default for no variable name', { defaultVariableValues: { 'a-b': 1 } }, /defaultVariable/],
    ['defaults that are a list', { defaultVariableValues: [] }, /defaultVariableValues/],
    ['a visibility of its own', { visibility: 'team' }, /private, public/],
    ['a limit below nothing', { rateLimits: { requestsPerDay: -1 } }, /requestsPerDay/],
    ['a limit as text', { rateLimits: { requestsPerDay: '5' } }, /requestsPerDay/],
    ['a limit of another window', { rateLimits: { requestsPerWeek: 5 } }, /requestsPerWeek/],
    ['a tag twice', { tags: ['a', 'a'] }, /tags/],
    ['an empty tag', { tags: [''] }, /tags/],
    ['21 tags', { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, /tags/],
    ['an origin with a path', { allowedOrigins: ['https://a.example/x'] }, /allowedOrigins/],
    ['any origin', { allowedOrigins: ['*'] }, /"allowedOrigins.0" must be scheme:\/\/host or /],
    ['an origin no browser has', { allowedOrigins: ['https://a.example:443'] }, /allowedOrigins/],
    ['a stage', { status: 'Deployed' }, /"status"/],
    ['an API that is on', { apiEnabled: true }, /"apiEnabled"/],
    ['a NUL in a default', { defaultVariableValues: { a: ['\0'] } }, /NUL/],
  ],
  updateAgent: [
    {},
    ['a name of null', { agentName: null }, /"agentName"/],
    ['an empty name', { agentName: '' }, /"agentName"/],
    ['another prompt', { promptId: 'prm_x' }, /"promptId"/],
    ['a version of null', { promptVersionId: null }, /"promptVersionId"/],
    ['a stage', { status: 'Deployed' }, /"status"/],
    ['a switch as text', { apiEnabled: 'true' }, /"apiEnabled"/],
    ['lists of null', { requiredVariables: null }, /"requiredVariables"/],
    ['tags of null', { tags: null }, /"tags"/],
    ['far too many tags', { tags: Array(250_000).fill('a') }, /"tags" must not have more than 20/],
    ['a config of null', { agentConfig: null }, /"agentConfig"/],
    ['an unknown setting', { agentConfig: { thinking: 1 } }, /agentConfig\.thinking/],
    ['a temperature above 2', { agentConfig: { temperature: 3 } }, /temperature/],
    ['a default for no variable name', { defaultVariableValues: { '1a': 1 } }, /default/],
    ['half a request', { rateLimits: { requestsPerDay: 0.5 } }, /requestsPerDay/],
  ],
  changeAgentStage: [
    { action: 'deploy' },
    ['no action', { action: undefined }, /"action"/],
    [
      'an unknown action',
      { action: 'delete' },
      /"action".*enable-api, deploy, rollback, disable, re-enable, archive, restore/,
    ],
    ['a number', { action: 5 }, /"action"/],
    ['upper case', { action: 'Deploy' }, /"action"/],
  ],
  createPrompt: [
    { name: 'P' },
    ['no name', { name: undefined }, /"name"/],
    ['an empty name', { name: '' }, /"name"/],
    ['a name of blanks', { name: ' \n' }, /"name"/],
    ['a name that is no text', { name: 5 }, /"name"/],
    ['a name of 201 characters', { name: long }, /"name"/],
    ['a description of 2,001 characters', { description: 'x'.repeat(2_001) }, /"description"/],
    ['a NUL', { name: 'x\0' }, /NUL/],
    ['a lone surrogate', { name: 'x\ud800' }, /surrogate/],
  ],
  updatePrompt: [
    { name: 'P' },
    ['a name of null', { name: null }, /"name"/],
    ['an empty name', { name: '' }, /"name"/],
    ['a description that is no text', { description: 5 }, /"description"/],
    ['a flag of its own', { archived: true }, /"archived"/],
  ],
  createPromptVersion: [
    version,
    ['an empty user template', { user: '' }, /"user"/],
    ['a user template of blanks', { user: ' \n' }, /"user"/],
    ['a template of 262,145 characters', { user: 'x'.repeat(262_145) }, /"user"/],
    ['an empty label', { label: '' }, /"label"/],
    ['a label of 101 characters', { label: 'x'.repeat(101) }, /"label"/],
    ['a label of null', { label: null }, /"label"/],
    ['a model without a provider', { model: 'gpt' }, /"model"/],
    ['a model with a blank', { model: 'openai/gpt 5' }, /"model"/],
    ['a temperature above 2', { temperature: 2.1 }, /"temperature"/],
    ['a temperature as text', { temperature: '1' }, /"temperature"/],
    ['no tokens', { maxTokens: 0 }, /"maxTokens"/],
    ['half a token', { maxTokens: 1.5 }, /"maxTokens"/],
    ['topP above 1', { topP: 1.01 }, /"topP"/],
    ['a number of its own', { number: 5 }, /"number"/],
    ['a NUL in a template', { user: 'x\0' }, /NUL/],
  ],
  createKey: [
    { name: 'K', agentIds: null, permissions: ['read'] },
    ['no name', { name: undefined }, /"name"/],
    ['a name of blanks', { name: ' \t' }, /"name"/],
    ['a name of 201 characters', { name: long }, /"name"/],
    ['agents left out', { agentIds: undefined }, /"agentIds"/],
    ['no agent', { agentIds: [] }, /"agentIds"/],
    ['the same agent twice', { agentIds: ['agt_1', 'agt_1'] }, /"agentIds"/],
    [
      '1,001 agents',
      { agentIds: Array.from({ length: 1_001 }, (_, i) => `agt_${i}`) },
      /"agentIds"/,
    ],
    ['no permission', { permissions: [] }, /"permissions"/],
    ['the same permission twice', { permissions: ['read', 'read'] }, /"permissions"/],
    ['a permission that there is not', { permissions: ['fly'] }, /"permissions/],
    ['a limit below 0', { rateLimits: { requestsPerMinute: -1 } }, /"rateLimits/],
    ['a limit that is no whole number', { rateLimits: { requestsPerHour: 1.5 } }, /"rateLimits/],
    ['a limit above a billion', { rateLimits: { requestsPerDay: 1_000_000_001 } }, /"rateLimits/],
    ['a window that there is not', { rateLimits: { requestsPerWeek: 1 } }, /"rateLimits/],
    ['an expiry that is a number', { expiresAt: 1_900_000_000 }, /"expiresAt"/],
    ['an origin with a path', { allowedOrigins: ['https://a.example/x'] }, /"allowedOrigins/],
    ['any origin', { allowedOrigins: ['*'] }, /"allowedOrigins/],
  ],
  updateKey: [
    { name: 'New' },
    ['permissions', { permissions: ['own'] }, /"permissions"/],
    ['an empty name', { name: '' }, /"name"/],
    ['a limit below 0', { rateLimits: { requestsPerMinute: -1 } }, /"rateLimits/],
  ],
  rotateKey: [
    { graceSeconds: 60 },
    ['a time before now', { graceSeconds: -1 }, /"graceSeconds"/],
    ['more than a week', { graceSeconds: 604_801 }, /"graceSeconds"/],
    ['half a second', { graceSeconds: 0.5 }, /"graceSeconds"/],
    ['a text', { graceSeconds: '60' }, /"graceSeconds"/],
    ['null', { graceSeconds: null }, /"graceSeconds"/],
  ],
  updateMember: [
    { role: 'editor' },
    ['no role', { role: undefined }, /"role"/],
    ['an unknown role', { role: 'admin' }, /"role"/],
    ['null', { role: null }, /"role"/],
    ['upper case', { role: 'Owner' }, /"role"/],
  ],
  createInvitation: [
    invitation,
    ['no role', { role: undefined }, /"role"/],
    ['no address', { email: undefined }, /"email"/],
    ['an address without a domain', { email: 'new' }, /"email"/],
    ['an address of 255 characters', { email: `${'x'.repeat(243)}@example.com` }, /"email"/],
    ['an address with a blank', { email: 'a b@example.com' }, /"email"/],
    ['a role that there is not', { role: 'admin' }, /"role"/],
  ],
  dismissNotice: [
    notice,
    ['nothing', { notice: undefined, days: undefined }, /"(notice|days)"/],
    ['no days', { days: undefined }, /"days"/],
    ['an unknown notice', { notice: 'unknown' }, /"notice"/],
    ['days below 0', { days: -1 }, /"days"/],
    ['31 days', { days: 31 }, /"days"/],
    ['a day and a half', { days: 1.5 }, /"days"/],
  ],
  updateWorkspace: [
    { name: 'Acme' },
    ['no name', { name: undefined }, /"name"/],
    ['a name of blanks', { name: ' ' }, /"name"/],
    ['a name of 201 characters', { name: long }, /"name"/],
  ],
  setPlan: [
    plan,
    ['no name', { name: undefined }, /"name"/],
    ['a name of blanks', { name: ' ' }, /"name"/],
    ['a name of 201 characters', { name: long }, /"name"/],
    ['no number', { actionsPerMonth: undefined }, /"actionsPerMonth"/],
    ['a number below 0', { actionsPerMonth: -1 }, /"actionsPerMonth"/],
    ['no whole number', { actionsPerMonth: 1.5 }, /"actionsPerMonth"/],
    ['a number above a trillion', { actionsPerMonth: 1_000_000_000_001 }, /"actionsPerMonth"/],
    ['a text', { actionsPerMonth: '5' }, /"actionsPerMonth"/],
  ],
  setRetention: [
    { recordsDays: 90, bodiesDays: null },
    ['nothing', { recordsDays: undefined, bodiesDays: undefined }, /"(records|bodies)Days"/],
    ['no days of bodies', { bodiesDays: undefined }, /"bodiesDays"/],
    ['no day', { recordsDays: 0 }, /"recordsDays"/],
    ['more than a century', { recordsDays: 36_501 }, /"recordsDays"/],
    ['a day and a half', { recordsDays: 1.5 }, /"recordsDays"/],
    ['a text', { recordsDays: '90' }, /"recordsDays"/],
    ['a number below 0', { bodiesDays: -1 }, /"bodiesDays"/],
  ],
  createErasure: [
    erasure,
    ['an empty name', { variable: '' }, /"variable"/],
    ['a value that is no text', { value: 42 }, /"value"/],
    ['a NUL', { value: 'a\0b' }, /NUL/],
    ['a lone surrogate', { variable: 'a\ud800' }, /surrogate/],
    ['a value of 10,001 characters', { value: 'x'.repeat(10_001) }, /"value"/],
  ],
  putPrice: [
    price,
    ['a model without a provider', { model: 'gpt' }, /"model"/],
    ['a model with a blank', { model: 'a/b c' }, /"model"/],
    ['no input price', { inputPerMillion: undefined }, /"inputPerMillion"/],
    ['an input price of null', { inputPerMillion: null }, /"inputPerMillion"/],
    ['a price below 0', { inputPerMillion: -0.01 }, /"inputPerMillion"/],
    ['a text that is no decimal', { outputPerMillion: '1e3' }, /"outputPerMillion"/],
    ['a text with a sign', { outputPerMillion: '-1' }, /"outputPerMillion"/],
    ['a comma', { outputPerMillion: '1,5' }, /"outputPerMillion"/],
    ['13 places', { outputPerMillion: '0.0000000000001' }, /"outputPerMillion"/],
    ['a number above a million', { inputPerMillion: 1_000_001 }, /"inputPerMillion"/],
    ['a wrong cache price', { cacheReadPerMillion: 'free' }, /"cacheReadPerMillion"/],
  ],
  putProvider: [
    { kind: 'openai', apiKey: 'sk-x' },
    ['no kind', { kind: undefined }, /"kind"/],
    ['a kind that there is not', { kind: 'closedai' }, /openai, anthropic/],
    ['an empty credential', { apiKey: '' }, /"apiKey"/],
    ['a credential of null', { apiKey: null }, /"apiKey"/],
    ['a credential of 4,097 characters', { apiKey: 'x'.repeat(4_097) }, /"apiKey"/],
    ['headers as a list', { headers: ['a'] }, /"headers"/],
    ['a header that is no text', { headers: { 'x-a': 1 } }, /"headers.x-a"/],
    ['a header without a value', { headers: { 'x-a': '' } }, /"headers.x-a"/],
    ['a header of 4,097 characters', { headers: { 'x-a': 'x'.repeat(4_097) } }, /"headers.x-a"/],
    ['51 headers', { headers: numbered(51) }, /"headers"/],
    ['a parameter that is no text', { query: { a: true } }, /"query.a"/],
    ['51 parameters', { query: numbered(51) }, /"query"/],
    ['a list as bodyExtra', { bodyExtra: [1] }, /"bodyExtra"/],
  ],
  testProvider: [
    {},
    ...['', 'x'.repeat(257), 1, null].map(
      (model): Wrong => [`the model ${model}`, { model }, /"model"/],
    ),
  ],
  createBudget: [
    { name: 'A', per: 'user', period: 'month', limitUSD: 20 },
    ...(
      [
        ...(['name', 'per', 'period', 'limitUSD'] as const).map((field) => [field, undefined]),
        ...[0, -1, '20', null, 1_000_000_001].map((limitUSD) => ['limitUSD', limitUSD]),
        ...[[0], [101], [50.5], [80, 80], 80].map((thresholds) => ['thresholds', thresholds]),
        ...[0, 1.5, null].map((maxTokens) => ['maxTokens', maxTokens]),
        ['per', 'session'],
        ['period', 'year'],
        ['onUnknown', 'allow'],
        ['enabled', 'yes'],
        ['scope', { agents: ['agt_x'] }],
        ['scope', { agentIds: [] }],
        ['scope', { apiKeyIds: ['key_x', 'key_x'] }],
        ['scope', { tags: [''] }],
        ['scope', null],
        ['limitUsd', 5],
      ] as const
    ).map(
      ([field, value]): Wrong => [
        `${field} ${JSON.stringify(value)}`,
        { [field as string]: value },
        new RegExp(`"${field}`),
      ],
    ),
  ],
  createAlert: [
    {
      ...{ name: 'A', metric: 'count', threshold: 10, clearThreshold: 10 },
      ...{ windowMinutes: 5, minCount: 0, noData: 'keep' },
    },
    ...(
      [
        ['metric', 'latency'],
        ['threshold', -1],
        ['threshold', '1'],
        ['windowMinutes', 0],
        ['windowMinutes', 1_441],
        ['windowMinutes', 1.5],
        ['minCount', -1],
        ['noData', 'ignore'],
        ['agentIds', []],
        ['tag', ''],
        ['name', ' '],
        ['state', 'ok'],
        ['metric', undefined],
        ['threshold', undefined],
      ] as const
    ).map(
      ([field, value]): Wrong => [`${field} ${value}`, { [field]: value }, new RegExp(`"${field}`)],
    ),
  ],
  createEndpoint: [
    { url: 'https://shop.example/', eventTypes: ['key.revoked'] },
    ['an unknown type', { eventTypes: ['key.revoked', 'key.lost'] }, /eventTypes\.1.*one of exec/],
    ['an unknown field', { events: [] }, /Unknown field "events". Allowed: url, eventTypes, /],
    ['no URL', { url: undefined }, /"url"/],
    ['no types', { eventTypes: [] }, /"eventTypes"/],
    ['half the data', { payload: 'half' }, /"payload"/],
  ],
  createSchedule: [
    { cron: '0 2 * * *', input: {} },
    ['another policy', { missed: 'all' }, /"missed"/],
    ['a list as input', { input: [] }, /"input"/],
  ],
  createWorkflow: [
    { name: 'W', definition: { steps: [step] } },
    ['no steps', { definition: { steps: [] } }, /"definition.steps"/],
    ['a name with a blank', { definition: { steps: [{ ...step, name: 'a b' }] } }, /steps.0.name"/],
    ['no agent', { definition: { steps: [{ name: 'a' }] } }, /steps.0.agentId" is missing/],
    ['a short timeout', { definition: { steps: [step], timeoutMs: 1 } }, /"definition.timeoutMs"/],
    [
      'an unknown field',
      { definition: { steps: [step], extra: 1 } },
      /Unknown field "definition.extra"/,
    ],
  ],
};

for (const [id, [valid, ...wrong]] of Object.entries(wrongBodies)) {
  const endpoint: Endpoint = endpoints[id as EndpointId];
  const read = (body: object) => readFields({ kind: 'text', text: JSON.stringify(body) }, endpoint);
  test(`${id} accepts a valid body`, () => assert.deepEqual(read(valid), valid));
  for (const [what, difference, named] of wrong) {
    test(`${id} refuses ${what}`, () => {
      const code = 'INVALID_REQUEST';
      assert.throws(() => read({ ...valid, ...difference }), { code, message: named });
    });
  }
}

test('an operation without fields accepts no body and an empty object, and names any other field', () => {
  const revoke: Endpoint = endpoints.revokeKey;
  const read = (text: string) => readFields({ kind: 'text', text }, revoke);
  assert.equal(readFields({ kind: 'none' }, revoke), undefined);
  assert.equal(read('{}'), undefined);
  assert.throws(() => read('{"reason":"x"}'), { message: /Unknown field "reason"/ });
  for (const text of ['null', '[]']) assert.throws(() => read(text), { code: 'INVALID_REQUEST' });
});

test('more different names than any body needs are refused before the body is parsed', () => {
  const text = `{${Array.from({ length: 11_000 }, (_, index) => `"n${index}":1`).join(',')}`;
  for (const id of ['updateWorkspace', 'acceptInvitation'] as const) {
    assert.throws(() => readFields({ kind: 'text', text }, endpoints[id]), {
      message: /more than 10000 different names/,
    });
  }
});

for (const number of ['1e400', '-1e400', '1e-400', '9007199254740993', '0.1234567890123456789']) {
  test(`the number ${number} is refused wherever it is, because it would lose precision`, () => {
    for (const [id, text] of [
      ['createAgent', `{"defaultVariableValues":{"optional":[1,{"deep":${number}}]}}`],
      ['createWorkflow', `{"definition":{"steps":[],"output":{"value":${number}}}}`],
    ] as const) {
      const message = new RegExp(`number ${number} .*as a string`);
      assert.throws(() => readFields({ kind: 'text', text }, endpoints[id]), { message });
    }
  });
}

const pages = [
  ['limit=0', /"limit".*1 to 100/],
  ['limit=101', /"limit".*1 to 100/],
  ['limit=ten', /"limit".*1 to 100/],
  ['limit=1.5', /"limit".*1 to 100/],
  ['limit=1e1', /"limit".*1 to 100/],
  ['limit=', /"limit".*1 to 100/],
  ['limit=1&limit=2', /"limit" may be given only once/],
  ['offset=-1', /"offset".*0 to/],
  ['offset=x', /"offset"/],
  ['offset=1e3', /"offset"/],
  ['offset=1000000001', /"offset"/],
] as const;

const history = [
  ['status=success&status=failed', /"status" may be given only once/],
  ['source=api&source=api', /"source" may be given only once/],
  ['status=done', /status.*success, failed, rate_limited, canceled, unauthorized/],
  ['source=web', /source.*dashboard, api, workflow/],
  ['startDate=yesterday', /startDate.*ISO 8601/],
  ['startDate=2026-02-30', /startDate.*ISO 8601/],
  ['endDate=2026-11-21T25:00:00Z', /endDate.*ISO 8601/],
  ['startDate=2026-11-22&endDate=2026-11-21', /startDate.*after/],
  ['errorCode=OOPS', /errorCode.*MODEL_TIMEOUT/],
  ['latencyMsMin=-1', /latencyMsMin/],
  ['costUSDMax=cheap', /costUSDMax/],
  ['latencyMsMin=10&latencyMsMax=9', /latencyMsMin.*latencyMsMax/],
  ['costUSDMin=10&costUSDMax=9', /costUSDMin.*costUSDMax/],
  ['costUSDMin=123456789.0000000002&costUSDMax=123456789.0000000001', /costUSDMin.*costUSDMax/],
  ['q=', /q/],
  ['q=%00', /q.*NUL/],
  ['variables.a=%00', /variables\.a.*NUL/],
  ['variables.=x', /Unknown parameter "variables\."/],
  ['variables.a=x&variables.a=y', /variables\.a/],
  [Array.from({ length: 11 }, (_, i) => `variables.v${i}=x`).join('&'), /variables\..*10/],
  ['__proto__=1', /__proto__/],
] as const;

const historyLists = [
  ...pages.filter(([query]) => query !== 'offset=1000000001'),
  ...history,
  ['status=processing', /status.*success/],
  ['include=everything', /include/],
  ['page=2', /Unknown parameter "page".*variables\.NAME, metadata\.NAME/],
] as const;

const historyExports = [
  ...history,
  ['format=xml', /format.*jsonl, csv/],
  ['limit=10', /Unknown parameter "limit"/],
] as const;

const wrongQueries: Partial<Record<EndpointId, readonly (readonly [string, RegExp])[]>> = {
  listKeys: pages,
  listPrompts: [
    ...pages,
    ['archived=yes', /"archived"/],
    ['q=%00', /"q"/],
    [`q=${long}`, /"q"/],
    ['q=a&q=b', /"q"/],
  ],
  listPromptVersions: pages,
  listPins: pages,
  listAllPins: pages,
  listAgents: [
    ...pages,
    ['status=draft', /"status".*Draft, Testing, Deployed, Paused/],
    ['status=success', /"status"/],
    ['status=', /"status"/],
    ['archived=1', /"archived"/],
    ['project=%00', /"project"/],
    ['tag=a%00', /"tag"/],
    ['q=%00', /"q"/],
    [`tag=${'x'.repeat(51)}`, /"tag"/],
    [`q=${long}`, /"q"/],
    ['status=Draft&status=Paused', /"status"/],
  ],
  getExecution: ['-1', '61', '1.5', 'soon', ''].map(
    (wait) => [`wait=${wait}`, /"wait".*0 to 60/] as const,
  ),
  getStatistics: [
    ['level=year', /"level" must be one of minute, quarterHour, hour, sixHours, day, week, all/],
    ['level=', /"level"/],
    ['unknown=1', /Unknown parameter "unknown"\. Allowed: level, groupBy, timeZone, /],
  ],
  getWorkspaceStatistics: [
    ['level=year', /"level" must be one of minute, quarterHour, hour, sixHours, day, week, all/],
    ['agentId=x', /Unknown parameter "agentId"/],
  ],
  listExecutions: historyLists,
  listExecutionsUnversioned: historyLists,
  listAllExecutions: historyLists,
  exportExecutions: historyExports,
  exportAllExecutions: historyExports,
};

for (const [id, wrong] of Object.entries(wrongQueries)) {
  const { query: schema = noFields }: Endpoint = endpoints[id as EndpointId];
  for (const [query, message] of wrong) {
    test(`${id} refuses ?${query.slice(0, 60)}`, () => {
      const code = 'INVALID_REQUEST';
      const read = () => readHistory(checkQuery<HistoryQuery>(schema, parse(query)), []);
      assert.throws(read, { code, message });
    });
  }
}

test('a range of one value is valid', () => {
  const query = parse('latencyMsMin=9&latencyMsMax=9&costUSDMin=0.50&costUSDMax=0.5');
  const read = checkQuery<HistoryQuery>(endpoints.listExecutions.query, query);
  assert.equal(readHistory(read, []).contents?.costUsdMin, '0.50');
});
