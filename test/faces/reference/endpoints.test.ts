import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { isModelName } from '../../../src/core/model/model-port.ts';
import { type Endpoints, endpoints } from '../../../src/faces/reference/operations-index.ts';
import { modelSettings } from '../../../src/features/prompts/contract/model-settings-contract.ts';
import {
  type Body,
  type Endpoint,
  keyRight,
  type Params,
  type Query,
  type ResponseBody,
  sessionRight,
} from '../../../src/http/contract/operation.ts';
import { pathParams } from '../../../src/http/contract/shared.ts';

const all = Object.values(endpoints) as Endpoint[];

test('each operation is listed under its id, and no two share method and path', () => {
  for (const [id, e] of Object.entries(endpoints)) assert.equal(e.id, id);
  assert.equal(new Set(all.map((e) => `${e.method} ${e.path}`)).size, all.length);
});

test('every path parameter is described', () => {
  const names = all.flatMap((e) => [...e.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  assert.deepEqual([...new Set(names)].sort(), Object.keys(pathParams).sort());
});

test('access rights of each operation', () => {
  const rights = (e: Endpoint) => [keyRight(e), sessionRight(e)];
  assert.deepEqual(rights(endpoints.executeAgent), ['execute', null]);
  assert.deepEqual(rights(endpoints.executeAgentInDashboard), [null, 'execute']);
  assert.deepEqual(rights(endpoints.getExecution), ['read', 'read']);
  assert.deepEqual(rights(endpoints.cancelExecution), ['cancel', 'cancel']);
  assert.deepEqual(rights(endpoints.listAgents), ['manage', 'read']);
  assert.deepEqual(rights(endpoints.updateAgent), ['manage', 'manage']);
  assert.deepEqual(rights(endpoints.setPlan), ['own', 'own']);
  assert.deepEqual(rights(endpoints.getMe), [null, 'read']);
  assert.deepEqual(rights(endpoints.acceptInvitation), [null, null]);
});

test('viewers can only read, except for what concerns themselves', () => {
  const own = ['removeMember', 'deleteMe', 'dismissNotice', 'putViews'];
  // It computes from what viewers may read, and writes nothing.
  const computed = ['estimateCost'];
  for (const e of all.filter(({ id }) => ![...own, ...computed].includes(id))) {
    if (sessionRight(e) === 'read') assert.equal(e.method, 'GET', e.id);
  }
});

test('every body and query rejects unknown fields', () => {
  for (const e of all) {
    for (const schema of [e.body, e.query]) {
      // The sender defines the content of an event.
      if (!schema || (e.id === 'receiveWebhook' && schema === e.body)) continue;
      // Lines of a file.
      if (e.consumes && schema === e.body) continue;
      // Clients of OpenAI send parameters that it knows.
      if (e.tag === 'OpenAI API' && schema === e.query) continue;
      const errors = Compile(schema).Errors({ nonsense: 1 });
      const named = errors.some((error) => error.keyword === 'additionalProperties');
      assert.ok(named, e.id);
    }
  }
});

const step = { name: 's', agentId: 'agt_x' };
const list = (concurrency: number) => ({ ...step, forEach: { list: '{{input.x}}', concurrency } });
const agent = { agentName: 'a', promptId: 'prm_x', promptVersionId: 'ver_x' };

const bodies: [Endpoint, unknown, boolean][] = [
  [endpoints.executeAgent, { variables: {} }, true],
  [endpoints.executeAgent, { variables: { a: null, b: [1, { c: '' }] } }, true],
  [endpoints.executeAgent, { variables: [] }, false],
  [endpoints.executeAgent, {}, false],
  [endpoints.createAgent, agent, true],
  [endpoints.createAgent, { ...agent, agentName: ' ' }, false],
  [endpoints.createAgent, { ...agent, agentName: 'n'.repeat(201) }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { temperature: 2, topP: 1 } }, true],
  [endpoints.createAgent, { ...agent, agentConfig: { temperature: 2.1 } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { temperature: '1' } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { temperature: null } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { topP: -0.1 } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { maxTokens: 0 } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { maxTokens: 1_000_001 } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { maxTokens: 1.5 } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { maxAttempts: 6 } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { timeoutMs: 999 } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { maxConcurrency: 0 } }, false],
  [endpoints.createAgent, { ...agent, agentConfig: { color: 'red' } }, false],
  [endpoints.createAgent, { ...agent, rateLimits: { requestsPerDay: 0 } }, true],
  [endpoints.createAgent, { ...agent, rateLimits: { requestsPerDay: null } }, true],
  [endpoints.createAgent, { ...agent, rateLimits: { requestsPerDay: 1.5 } }, false],
  [endpoints.createAgent, { ...agent, rateLimits: { requestsPerWeek: 1 } }, false],
  [endpoints.createAgent, { ...agent, requiredVariables: ['a', 'a'] }, false],
  [endpoints.createAgent, { ...agent, requiredVariables: ['a b'] }, false],
  [endpoints.createAgent, { ...agent, defaultVariableValues: { a: { b: 1 } } }, true],
  [endpoints.createAgent, { ...agent, defaultVariableValues: { 'a-b': 1 } }, false],
  [endpoints.createAgent, { ...agent, visibility: 'secret' }, false],
  [endpoints.createAgent, { ...agent, allowedOrigins: ['https://a.example:8443'] }, true],
  [endpoints.createAgent, { ...agent, allowedOrigins: ['http://[::1]:3000'] }, true],
  [endpoints.createAgent, { ...agent, allowedOrigins: ['*'] }, false],
  [endpoints.createAgent, { ...agent, allowedOrigins: ['https://a.example/'] }, false],
  [endpoints.createAgent, { ...agent, allowedOrigins: ['https://A.example'] }, false],
  [endpoints.updateAgent, {}, true],
  [endpoints.updateAgent, { agentConfig: { temperature: null, model: 'a/b' } }, true],
  [endpoints.updateAgent, { agentConfig: { temperature: 3 } }, false],
  [endpoints.updateAgent, { project: null }, true],
  [endpoints.updateAgent, { agentName: null }, false],
  [endpoints.updateAgent, { status: 'Deployed' }, false],
  [endpoints.changeAgentStage, { action: 'deploy' }, true],
  [endpoints.changeAgentStage, { action: 'explode' }, false],
  [endpoints.createKey, { name: 'k', agentIds: null, permissions: ['read'] }, true],
  [endpoints.createKey, { name: 'k', permissions: ['read'] }, false],
  [endpoints.createKey, { name: 'k', agentIds: [], permissions: ['read'] }, false],
  [endpoints.createKey, { name: 'k', agentIds: null, permissions: [] }, false],
  [endpoints.createKey, { name: 'k', agentIds: null, permissions: ['fly'] }, false],
  [endpoints.rotateKey, { graceSeconds: 604_801 }, false],
  [endpoints.createPromptVersion, { user: 'Say {{x}}.', system: null, model: null }, true],
  [endpoints.createPromptVersion, { user: '' }, false],
  [endpoints.createPromptVersion, { user: 'x', model: 'no-slash' }, false],
  [endpoints.putProvider, { kind: 'ollama', baseURL: 'http://localhost:11434' }, true],
  [endpoints.putProvider, { kind: 'ollama', baseURL: 'file:///etc/passwd' }, false],
  [endpoints.putPrice, { model: 'a/b', inputPerMillion: '0.2', outputPerMillion: 3 }, true],
  [endpoints.putPrice, { model: 'a/b', inputPerMillion: '-1', outputPerMillion: 3 }, false],
  [endpoints.putPrice, { model: 'a/b', inputPerMillion: '1e3', outputPerMillion: 3 }, false],
  [endpoints.putPrice, { model: 'a/b', inputPerMillion: 1, outputPerMillion: -3 }, false],
  [endpoints.setPlan, { name: 'Team', actionsPerMonth: null }, true],
  [endpoints.setPlan, { name: 'Team' }, false],
  [endpoints.createWorkflow, { name: 'w', definition: { steps: [step] } }, true],
  [endpoints.createWorkflow, { name: 'w', definition: { steps: [] } }, false],
  [endpoints.createWorkflow, { name: 'w', definition: { steps: Array(51).fill(step) } }, false],
  [endpoints.createWorkflow, { name: 'w', definition: { steps: [{ ...step, name: '1' }] } }, false],
  [endpoints.createWorkflow, { name: 'w', definition: { steps: [step], timeoutMs: 999 } }, false],
  [endpoints.createWorkflow, { name: 'w', definition: { steps: [step], output: [1] } }, true],
  [endpoints.createWorkflowVersion, { definition: { steps: [{ ...step, when: null }] } }, true],
  [
    endpoints.createWorkflowVersion,
    { definition: { steps: [{ ...step, onFailure: 'x' }] } },
    false,
  ],
  [endpoints.createWorkflowVersion, { definition: { steps: [list(100)] } }, true],
  [endpoints.createWorkflowVersion, { definition: { steps: [list(101)] } }, false],
  [endpoints.executeWorkflow, { input: {} }, true],
  [endpoints.executeWorkflow, {}, false],
  [endpoints.createSchedule, { cron: '0 2 * * *', missed: 'once', input: { a: 1 } }, true],
  [endpoints.createSchedule, { cron: '0 2 * * *', missed: 'twice' }, false],
  [endpoints.applyDeclaration, { declaration: {} }, true],
  [endpoints.applyDeclaration, { declaration: { keys: [] } }, false],
];

test('accepted and rejected bodies', () => {
  for (const [e, value, fits] of bodies) {
    assert.equal(Compile(e.body as TSchema).Check(value), fits, `${e.id} ${JSON.stringify(value)}`);
  }
});

test('models are named as in the core', () => {
  const check = Compile(modelSettings.model);
  const long = 'x'.repeat(191);
  const names = [
    'openai/gpt-5.5',
    'a/b/c',
    'a/',
    '/b',
    'a b/c',
    'a/b c',
    '-a/b',
    `a/${long}`,
    `a/${long}x`,
  ];
  for (const name of [...names, 'cueline/echo?delay=250&fail=PROVIDER_ERROR']) {
    assert.equal(check.Check(name), isModelName(name), name);
  }
});

/** Checked by the compiler: handlers and client take their types from the declarations. */
export function types() {
  const params: Params<Endpoints['getExecution']> = { agentId: '', executionId: '' };
  // @ts-expect-error a parameter is missing
  const short: Params<Endpoints['getExecution']> = { agentId: '' };
  const query: Query<Endpoints['listExecutions']> = { limit: 3, status: 'failed' };
  // @ts-expect-error no such status
  const wrong: Query<Endpoints['listExecutions']> = { status: 'done' };
  const none: Body<Endpoints['listAgents']> = undefined;
  const body: Body<Endpoints['updateAgent']> = { agentConfig: { model: null } };
  const gone: ResponseBody<Endpoints['deleteAgent']> = null;
  const label = (agent: ResponseBody<Endpoints['createAgent'], 201>): string =>
    agent.promptVersionLabel;
  const code = (run: ResponseBody<Endpoints['getExecution']>): 'CANCELED' | null =>
    run.errorCode === 'CANCELED' ? run.errorCode : null;
  return { params, short, query, wrong, none, body, gone, label, code };
}
