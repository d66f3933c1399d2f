import { Webhook } from 'standardwebhooks';
import type { RecordedCaller } from './recorder.ts';

/**
 * Calls that reach every operation with full and with empty content, in a fixed order, one at a time. Nothing in it
 * depends on the time or on luck, so that two recordings of the same state are equal.
 */
export interface Callers {
  /** The owner's session. */
  readonly owner: RecordedCaller;
  /** A key with every permission. */
  readonly full: RecordedCaller;
  /** A key that only executes. */
  readonly executing: RecordedCaller;
  /** A key for pages of `pageOrigin`, as a browser sends it. */
  readonly browser: RecordedCaller;
  /** No credentials. */
  readonly anonymous: RecordedCaller;
}

export interface ScenarioSettings {
  /** The base URL of a fake provider. */
  readonly providerUrl: string;
}

export const pageOrigin = 'https://page.example';
const missing = '01kaf3pz00f999w32v3w66tbj1';
const content = [{ type: 'text', text: 'Describe {{topic}} for {{audience}}.' }];
export async function runScenario(callers: Callers, settings: ScenarioSettings): Promise<void> {
  await readEmpty(callers);
  const prompt = await prompts(callers);
  const agents = await createAgents(callers, prompt, settings);
  await executions(callers, agents);
  await openai(callers, agents);
  await pages(callers, agents);
  await batches(callers, agents);
  await workflows(callers, agents);
  await toolServers(callers.full, settings);
  await events(callers, agents, settings);
  await workspace(callers, agents, settings);
  await refuse(callers, agents);
  await remove(callers, agents);
}

const collections = [
  ...[
    'agents',
    'prompts',
    'workflows',
    'executions',
    'executions/export',
    'pins',
    'statistics',
    'usage',
  ],
  ...['keys', 'providers', 'prices', 'retention', 'erasures', 'audit', 'me/views', 'me', 'members'],
  ...['invitations', 'endpoints', 'events', 'alerts', 'declaration', 'identity-providers'],
  'tool-servers',
].map((name) => `/api/v1/${name}`);

async function readEmpty({ owner, full, executing, anonymous }: Callers): Promise<void> {
  for (const caller of [owner, full, executing, anonymous]) {
    for (const path of [...collections, '/v1/models']) await caller.call(`GET ${path}`);
  }
  for (const path of ['/healthz', '/readyz', '/nowhere']) await anonymous.call(`GET ${path}`);
}

async function prompts({ full }: Callers) {
  const { promptId } = await full.call('POST /api/v1/prompts', {
    body: { name: 'Describe', description: 'Describes a topic.' },
  });
  const { promptId: emptyId } = await full.call('POST /api/v1/prompts', {
    body: { name: 'Empty' },
  });
  const path = `/api/v1/prompts/${promptId}`;
  const { promptVersionId } = await full.call(`POST ${path}/versions`, {
    body: { user: 'Hello {{topic}}', model: 'cueline/echo' },
  });
  const { promptVersionId: fullId } = await full.call(`POST ${path}/versions`, {
    body: {
      ...{ label: 'full', notes: 'Everything set.', system: 'You describe for {{audience}}.' },
      ...{ user: 'Describe {{topic}}.', model: 'cueline/echo', temperature: 0.5, maxTokens: 100 },
      ...{ topP: 0.9 },
    },
  });
  await full.call(`POST ${path}/versions`, { body: { label: 'full', user: 'again' } });
  await full.call(`POST ${path}/versions`, { body: { user: content } });
  await full.call(`PATCH ${path}`, { body: { description: 'Changed.' } });
  await full.call(`GET ${path}`);
  await full.call(`GET /api/v1/prompts/${emptyId}`);
  for (const below of ['', `/${promptVersionId}`, `/${fullId}`, '?limit=1', `/ver_${missing}`]) {
    await full.call(`GET ${path}/versions${below}`);
  }
  await full.call(`POST /api/v1/prompts/${emptyId}/archive`);
  await full.call('GET /api/v1/prompts?archived=true');
  await full.call(`POST /api/v1/prompts/${emptyId}/restore`);
  await full.call('GET /api/v1/prompts?limit=1&q=desc');
  return { promptId, promptVersionId, fullId };
}

type Prompt = Awaited<ReturnType<typeof prompts>>;

async function createAgents({ full, owner }: Callers, prompt: Prompt, settings: ScenarioSettings) {
  const { promptId, promptVersionId, fullId } = prompt;
  await full.call('PUT /api/v1/providers/fake', {
    body: {
      kind: 'openai-compatible',
      apiKey: 'sk-a-secret-of-the-provider',
      baseURL: settings.providerUrl,
    },
  });
  const create = async (body: object) => {
    const { agentId } = await full.call('POST /api/v1/agents', { body });
    const path = `/api/v1/agents/${agentId}`;
    await full.call(`POST ${path}/lifecycle`, { body: { action: 'enable-api' } });
    await full.call(`POST ${path}/lifecycle`, { body: { action: 'deploy' } });
    return { agentId, path };
  };
  const plain = await create({ agentName: 'Plain', promptId, promptVersionId });
  const rich = await create({
    ...{ agentName: 'Rich', promptId, promptVersionId: fullId, visibility: 'public' },
    ...{ project: 'Docs', category: 'Text', tags: ['a', 'b'], description: 'Has every setting.' },
    ...{ requiredVariables: ['topic'], optionalVariables: ['audience'] },
    ...{ defaultVariableValues: { audience: 'everyone' }, allowedOrigins: ['https://a.example'] },
    ...{ rateLimits: { requestsPerMinute: 1000, requestsPerHour: 2000, requestsPerDay: 3000 } },
    agentConfig: { maxAttempts: 2, timeoutMs: 60_000, temperature: 0.1, maxConcurrency: 5 },
  });
  const called = await create({
    ...{ agentName: 'Called', promptId, promptVersionId },
    agentConfig: { model: 'fake/model', temperature: 0.3 },
  });
  const failing = await create({
    ...{ agentName: 'Failing', promptId, promptVersionId },
    agentConfig: { model: 'cueline/echo?fail=PROVIDER_AUTH', maxAttempts: 1 },
  });
  const slow = await create({
    ...{ agentName: 'Slow', promptId, promptVersionId },
    agentConfig: { model: 'cueline/echo?delay=3600000', timeoutMs: 3_600_000 },
  });
  await full.call(`PATCH ${plain.path}`, { body: { promptVersionId: fullId } });
  await full.call(`PATCH ${plain.path}`, { body: { promptVersionId } });
  await full.call(`PATCH ${rich.path}`, { body: { description: 'Changed.', tags: ['c'] } });
  await full.call(`PATCH ${rich.path}`, {
    body: { agentConfig: { temperature: null, unknown: 1 } },
  });
  await full.call(`POST ${rich.path}/lifecycle`, { body: { action: 'restore' } });
  for (const caller of [full, owner]) {
    for (const { path } of [plain, rich, called]) {
      for (const below of ['', '/pins', '/limits', '/refusals'])
        await caller.call(`GET ${path}${below}`);
    }
    for (const query of [
      '',
      '?limit=1&offset=1',
      '?project=Docs&tag=c',
      '?q=pl',
      '?status=Draft',
    ]) {
      await caller.call(`GET /api/v1/agents${query}`);
    }
    await caller.call('GET /api/v1/pins?limit=2');
  }
  return { plain, rich, called, failing, slow };
}

type Agents = Awaited<ReturnType<typeof createAgents>>;

async function execute(caller: RecordedCaller, agent: { path: string }, body: object) {
  const { executionId } = await caller.call(`POST ${agent.path}/execute`, { body });
  const path = `${agent.path}/executions/${executionId}`;
  await caller.until(`GET ${path}?wait=30`, ({ status }) => status !== 'processing');
  return { executionId, path };
}

async function executions({ full, owner, executing }: Callers, agents: Agents) {
  const { plain, rich, called, failing, slow } = agents;
  const variables = { topic: 'tides', audience: 'sailors', extra: [1, { a: 1.5 }], none: null };
  const labels = { user: 'u1', session: 's1', tags: ['x', 'y'], metadata: { plan: 'pro' } };
  const ended = [
    await execute(full, plain, { variables: { topic: 'tides' } }),
    await execute(full, rich, { variables, ...labels }),
    await execute(full, called, { variables: { topic: 'tides' } }),
    await execute(full, failing, { variables: { topic: 'tides' }, user: 'u2' }),
    await execute(executing, plain, { variables: { topic: 'own' } }),
  ];
  await full.call(`POST ${rich.path}/execute`, { body: { variables: {} } });
  await full.call(`POST ${plain.path}/execute`, { body: '{"variables":' });
  await full.call(`POST ${plain.path}/estimate`, { body: { variables: { topic: 'tides' } } });
  for (let count = 0; count < 2; count += 1) {
    await full.call(`POST ${plain.path}/execute`, {
      ...{ body: { variables: { topic: 'once' } }, headers: { 'idempotency-key': 'once' } },
    });
    await full.until(`GET ${plain.path}/executions`, ({ pagination }) => pagination.total === 3);
  }
  const waiting = await full.call(`POST ${slow.path}/execute`, {
    body: { variables: { topic: 'slow' } },
  });
  const waitingPath = `${slow.path}/executions/${waiting.executionId}`;
  await full.until(`GET ${waitingPath}`, ({ startedAt }) => startedAt !== undefined);
  await full.call(`GET ${waitingPath}`);
  await full.call(`GET ${slow.path}/executions?include=processing`);
  await full.call(`POST ${waitingPath}/cancel`);
  await full.call(`POST ${waitingPath}/cancel`);
  for (const caller of [full, owner, executing]) {
    for (const { path } of [...ended, { path: waitingPath }]) await caller.call(`GET ${path}`);
    for (const below of ['/stream', '/events', '/steps'])
      await caller.call(`GET ${ended[1]?.path}${below}`);
    await lists(caller, agents);
  }
  await owner.call(`POST ${rich.path.replace('/v1', '')}/execute`, { body: { variables } });
  await full.until(`GET ${rich.path}/executions`, ({ pagination }) => pagination.total === 2);
  await full.call(`GET ${rich.path}/executions`);
  await full.call(`DELETE ${ended[0]?.path}`);
  await full.call(`GET ${ended[0]?.path}`);
}

async function lists(caller: RecordedCaller, { plain, rich, failing }: Agents): Promise<void> {
  const queries = [
    ...[
      '',
      '?limit=2',
      '?limit=1&offset=1',
      '?status=failed',
      '?user=u1&session=s1&tag=x',
      '?q=tides',
    ],
    ...[
      '?include=processing',
      '?model=cueline/echo',
      '?errorCode=PROVIDER_AUTH',
      '?limit=0',
      '?nothing=1',
    ],
    '?startDate=2020-01-01&endDate=2099-01-01',
  ];
  for (const query of queries) await caller.call(`GET /api/v1/executions${query}`);
  for (const query of ['', '?user=u1&limit=1', '?limit=0']) {
    await caller.call(`GET /api/v1/sessions${query}`);
  }
  await caller.call('GET /api/v1/executions?sort=tokensUsed&totals=true&omit=bodies&preview=true');
  for (const { path } of [plain, rich, failing]) {
    await caller.call(`GET ${path}/executions`);
    await caller.call(`GET ${path.replace('/v1', '')}/executions?limit=1`);
    await caller.call(`GET ${path}/statistics?level=day&totals=true`);
  }
  for (const format of ['csv', 'jsonl']) {
    await caller.call(`GET /api/v1/executions/export?format=${format}`);
    await caller.call(`GET ${rich.path}/executions/export?format=${format}&status=success`);
  }
  for (const group of ['status', 'model', 'agent', 'version', 'errorCode']) {
    await caller.call(`GET /api/v1/statistics?level=day&groupBy=${group}`);
  }
}

async function openai(
  { full, executing, anonymous }: Callers,
  { plain, failing, slow }: Agents,
): Promise<void> {
  const metadata = { topic: 'tides' };
  for (const caller of [full, executing, anonymous]) {
    await caller.call('GET /v1/models');
    await caller.call(`GET /v1/models/${plain.agentId}`);
    await caller.call('GET /v1/models/none');
    for (const { agentId: model } of [plain, failing, { agentId: 'none' }]) {
      const messages = [{ role: 'user', content: 'Hi' }];
      for (const stream of [false, true]) {
        await caller.call('POST /v1/chat/completions', { body: { model, messages, stream } });
        await caller.call('POST /v1/responses', { body: { model, input: 'Hi', stream, metadata } });
      }
    }
  }
  const bodies = [
    ...[{}, { model: plain.agentId }, { model: plain.agentId, messages: [] }],
    ...[{ model: plain.agentId, messages: [{ role: 'user', content: 1 }], temperature: 'hot' }],
    { model: plain.agentId, messages: [{ role: 'user', content: 'Hi' }], n: 2, logprobs: true },
  ];
  for (const body of bodies) {
    await full.call('POST /v1/chat/completions', { body });
    await full.call('POST /v1/responses', { body });
  }
  const { id } = await full.call('POST /v1/responses', {
    body: { model: plain.agentId, input: [{ role: 'user', content: 'Hi' }] },
  });
  const { id: running } = await full.call('POST /v1/responses', {
    body: { model: slow.agentId, input: 'Hi', background: true },
  });
  await full.call(`POST /v1/responses/${running}/cancel`);
  await full.until(`GET /v1/responses/${id}`, ({ status }) => status === 'completed');
  for (const below of ['', '/input_items']) await full.call(`GET /v1/responses/${id}${below}`);
  await full.call(`POST /v1/responses/${id}/cancel`);
  await full.call(`DELETE /v1/responses/${id}`);
  await full.call(`GET /v1/responses/${id}`);
}

async function pages({ browser, anonymous }: Callers, { plain }: Agents): Promise<void> {
  const { path } = await execute(browser, plain, { variables: { topic: 'page' } });
  await browser.call(`GET ${path}`);
  await browser.call('GET /v1/models');
  const messages = [{ role: 'user', content: 'Hi' }];
  await browser.call('POST /v1/chat/completions', { body: { model: plain.agentId, messages } });
  await browser.call(`GET ${plain.path}`, { headers: { origin: 'https://other.example' } });
  for (const request of [`POST ${plain.path}/execute`, 'POST /v1/responses', 'POST /mcp']) {
    const [method = '', target] = request.split(' ');
    await anonymous.call(`OPTIONS ${target}`, {
      headers: {
        origin: pageOrigin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
      },
    });
  }
}

async function batches(
  { full, executing }: Callers,
  { plain, failing, slow }: Agents,
): Promise<void> {
  const headers = { 'content-type': 'application/jsonl' };
  const lines = [
    ...[
      { id: '1', variables: { topic: 'a' } },
      { id: '2', variables: {}, user: 'u3' },
    ],
    { id: '3', variables: { topic: 'c' }, tags: ['t'], metadata: { m: '1' } },
  ].map((line) => JSON.stringify(line));
  const { batchId } = await full.call(`POST ${plain.path}/batches`, {
    body: lines.join('\n'),
    headers,
  });
  const path = `${plain.path}/batches/${batchId}`;
  await full.until(`GET ${path}`, ({ status }) => status === 'completed');
  for (const caller of [full, executing]) {
    for (const below of ['', '/results', '/results?status=failed'])
      await caller.call(`GET ${path}${below}`);
    await caller.call(`GET ${plain.path}/batches`);
  }
  await full.call(`POST ${plain.path}/batches`, { body: '{"id":1}\nnothing', headers });
  const waiting = await full.call(`POST ${slow.path}/batches`, {
    body: lines[0] as string,
    headers,
  });
  await full.call(`POST ${slow.path}/batches/${waiting.batchId}/cancel`);
  await full.until(
    ...([
      `GET ${slow.path}/batches/${waiting.batchId}`,
      ({ status }: { status: string }) => status === 'canceled',
    ] as const),
  );
  await full.call(`GET ${slow.path}/batches`);
  const ended = ({ status }: { status: string }) => status === 'completed';
  const failed = await full.call(`POST ${failing.path}/batches`, {
    ...{ body: lines[0] as string, headers },
  });
  await full.until(`GET ${failing.path}/batches/${failed.batchId}`, ended);
  const again = await full.call(`POST ${failing.path}/batches/${failed.batchId}/rerun`);
  await full.until(`GET ${failing.path}/batches/${again.batchId}`, ended);
}

async function workflows(
  { full, owner, executing }: Callers,
  { plain, rich, failing }: Agents,
): Promise<void> {
  const definition = {
    input: { required: ['topic'], optional: ['many'] },
    steps: [
      { name: 'first', agentId: plain.agentId, variables: { topic: '{{input.topic}}' } },
      { name: 'second', agentId: rich.agentId, variables: { topic: '{{steps.first.output}}' } },
      { name: 'never', agentId: plain.agentId, when: 'false', variables: { topic: 'x' } },
    ],
  };
  const broken = {
    input: {},
    steps: [{ name: 'fails', agentId: failing.agentId, variables: { topic: 'x' } }],
  };
  for (const body of [{ definition }, { definition: broken }, { definition: { steps: [] } }]) {
    await full.call('POST /api/v1/workflows/validate', { body });
  }
  const { workflowId } = await full.call('POST /api/v1/workflows', {
    body: { name: 'Two steps', description: 'Describes twice.', definition },
  });
  const path = `/api/v1/workflows/${workflowId}`;
  const version = await full.call(`POST ${path}/versions`, {
    body: { notes: 'Fails.', definition: broken },
  });
  for (const below of [
    '',
    '/versions',
    `/versions/${version.workflowVersionId}`,
    '/pins',
    '/runs',
  ]) {
    await full.call(`GET ${path}${below}`);
  }
  const run = await full.call(`POST ${path}/execute`, { body: { input: { topic: 'tides' } } });
  const runPath = `${path}/runs/${run.workflowRunId}`;
  await full.until(`GET ${runPath}?wait=30`, ({ status }) => status !== 'processing');
  await executing.call(`GET ${runPath}`);
  const own = await executing.call(`POST ${path}/execute`, { body: { input: { topic: 'own' } } });
  const ownPath = `${path}/runs/${own.workflowRunId}`;
  await executing.until(`GET ${ownPath}?wait=30`, ({ status }) => status !== 'processing');
  for (const below of ['', '?omit=bodies', '?include=usage']) {
    await executing.call(`GET ${ownPath}${below}`);
  }
  await full.call(`PATCH ${path}`, { body: { workflowVersionId: version.workflowVersionId } });
  const failed = await full.call(`POST ${path}/execute`, { body: { input: {} } });
  const failedPath = `${path}/runs/${failed.workflowRunId}`;
  await full.until(`GET ${failedPath}?wait=30`, ({ status }) => status !== 'processing');
  for (const caller of [full, owner]) {
    for (const one of [runPath, failedPath]) await caller.call(`GET ${one}`);
    for (const below of ['?omit=bodies', '?include=usage', '/steps/first/items', '/stream']) {
      await caller.call(`GET ${runPath}${below}`);
    }
    for (const query of ['', '?status=failed', '?limit=1'])
      await caller.call(`GET ${path}/runs${query}`);
    await caller.call('GET /api/v1/workflows?include=activity');
  }
  await full.call(`POST ${runPath}/cancel`);
  await rerunItems(full, failing);
  await full.call(`POST ${path}/execute`, { body: { input: { unknown: 1 } } });
  await owner.call(`POST ${path.replace('/v1', '')}/execute`, { body: { input: { unknown: 1 } } });
  await triggers(full, path);
  await full.call('GET /api/v1/declaration');
  await full.call('POST /api/v1/declaration', { body: { declaration: { prompts: [] } } });
}

async function rerunItems(full: RecordedCaller, failing: Agents['failing']): Promise<void> {
  const each = {
    ...{ name: 'each', agentId: failing.agentId, onFailure: 'continue' },
    ...{ forEach: { list: '{{input.list}}', max: 5 }, variables: { topic: '{{item}}' } },
  };
  const { workflowId } = await full.call('POST /api/v1/workflows', {
    body: { name: 'Items', definition: { input: { required: ['list'] }, steps: [each] } },
  });
  const path = `/api/v1/workflows/${workflowId}`;
  const ended = ({ status }: { status: string }) => status !== 'processing';
  const run = await full.call(`POST ${path}/execute`, { body: { input: { list: ['a'] } } });
  await full.until(`GET ${path}/runs/${run.workflowRunId}?wait=30`, ended);
  const again = await full.call(`POST ${path}/runs/${run.workflowRunId}/steps/each/rerun`);
  await full.until(`GET ${path}/runs/${again.workflowRunId}?wait=30`, ended);
  await full.call(`GET ${path}/runs?failedItems=true`);
}

async function triggers(full: RecordedCaller, path: string): Promise<void> {
  const body = { cron: '0 2 * * *', timeZone: 'Europe/Berlin', missed: 'once', enabled: false };
  const { scheduleId } = await full.call(`POST ${path}/schedules`, { body });
  await full.call(`POST ${path}/schedules`, { body: { cron: 'never' } });
  for (const below of ['', `/${scheduleId}`]) await full.call(`GET ${path}/schedules${below}`);
  await full.call(`PATCH ${path}/schedules/${scheduleId}`, { body: { cron: '0 3 * * *' } });
  await full.call(`DELETE ${path}/schedules/${scheduleId}`);
  const { webhookId, secret } = await full.call(`POST ${path}/webhooks`, {
    body: { name: 'Shop' },
  });
  await full.call(`GET ${path}/webhooks`);
  await full.call(`POST /api/v1/webhooks/${webhookId}`, { body: {} });
  const payload = '{"order":1}';
  const started = await full.call(`POST /api/v1/webhooks/${webhookId}`, {
    ...{ body: payload, headers: signed(secret, payload) },
  });
  await full.until(
    `GET ${path}/runs/${started.workflowRunId}?wait=30`,
    ({ status }) => status !== 'processing',
  );
  await full.call(`GET ${path}/webhooks/${webhookId}/log`);
  await full.call(`POST ${path}/webhooks/${webhookId}/rotate`);
  await full.call(`DELETE ${path}/webhooks/${webhookId}`);
}

function signed(secret: string, payload: string): Record<string, string> {
  const [id, at] = ['msg_1', new Date()];
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, payload),
  };
}

async function events(
  { full }: Callers,
  { plain, failing }: Agents,
  settings: ScenarioSettings,
): Promise<void> {
  const { endpointId } = await full.call('POST /api/v1/endpoints', {
    body: { url: null, eventTypes: ['execution.failed', 'key.revoked'], description: 'Feed' },
  });
  const path = `/api/v1/endpoints/${endpointId}`;
  await execute(full, failing, { variables: { topic: 'event' } });
  await full.until('GET /api/v1/events', ({ events: list }) => list.length > 0);
  for (const below of ['', '/deliveries']) await full.call(`GET ${path}${below}`);
  for (const query of ['', `?endpointId=${endpointId}&limit=1`])
    await full.call(`GET /api/v1/events${query}`);
  await full.call(`PATCH ${path}`, { body: { description: 'Changed' } });
  await full.call(`POST ${path}/test`);
  const { events: sent } = await full.call('GET /api/v1/events?limit=1');
  await full.call(`POST ${path}/deliveries/${sent[0].eventId}/resend`);
  const period = { startDate: '2026-01-01T00:00:00.000Z', endDate: '2026-01-02T00:00:00.000Z' };
  await full.call(`POST ${path}/replay`, { body: period });
  await full.call(`POST ${path}/rotate`, { body: {} });
  await full.call('GET /api/v1/endpoints');
  // Nothing happens that it would be sent.
  const { endpointId: pushed } = await full.call('POST /api/v1/endpoints', {
    body: { url: `${settings.providerUrl}/hook`, eventTypes: ['alert.fired'] },
  });
  await full.call(`GET /api/v1/endpoints/${pushed}`);
  await full.call(`PATCH /api/v1/endpoints/${pushed}`, { body: { enabled: false } });
  await full.call(`DELETE /api/v1/endpoints/${pushed}`);
  const alert = {
    ...{ name: 'Failures', metric: 'failureRate', threshold: 0.5, clearThreshold: 0.1 },
    // Of no call, so that it measures nothing, whatever the time.
    ...{ windowMinutes: 5, minCount: 1, noData: 'keep', agentIds: [plain.agentId], tag: 'none' },
  };
  const { alertId } = await full.call('POST /api/v1/alerts', { body: alert });
  await full.call('POST /api/v1/alerts', { body: { name: 'None' } });
  const { name: _name, ...preview } = alert;
  await full.call('POST /api/v1/alerts/preview', { body: { ...preview, days: 1 } });
  for (const below of ['', `/${alertId}`]) await full.call(`GET /api/v1/alerts${below}`);
  await full.call(`POST /api/v1/alerts/${alertId}/preview`, { body: { days: 1 } });
  await full.call(`PATCH /api/v1/alerts/${alertId}`, { body: { threshold: 0.6 } });
  await full.call(`DELETE /api/v1/alerts/${alertId}`);
  // Disabled, so that it does not count the calls of the scenario.
  const budget = { name: 'All', per: 'none', period: 'total', limitUSD: 0.5, enabled: false };
  const { budgetId } = await full.call('POST /api/v1/budgets', { body: budget });
  await full.call('POST /api/v1/budgets', { body: budget });
  for (const below of ['', `/${budgetId}`, `/${budgetId}/windows`]) {
    await full.call(`GET /api/v1/budgets${below}`);
  }
  await full.call(`PATCH /api/v1/budgets/${budgetId}`, { body: { limitUSD: 1 } });
  await full.call(`DELETE /api/v1/budgets/${budgetId}`);
  await full.call(`DELETE ${path}`);
}

async function toolServers(full: RecordedCaller, settings: ScenarioSettings): Promise<void> {
  const tool = { name: 'refund', description: 'Pays back.', inputSchema: { type: 'object' } };
  // The path answers no POST: what is tried is refused.
  const { toolServerId } = await full.call('POST /api/v1/tool-servers', {
    body: { name: 'crm', kind: 'http', url: `${settings.providerUrl}/tools`, tools: [tool] },
  });
  const path = `/api/v1/tool-servers/${toolServerId}`;
  await full.call('GET /api/v1/tool-servers');
  await full.call('GET /api/v1/tools?server=crm');
  await full.call(`PATCH ${path}`, { body: { headers: { 'X-Team': 'billing' } } });
  await full.call(`GET ${path}`);
  await full.call(`POST ${path}/check`);
  await full.call(`POST ${path}/tools/refund/try`, { body: { arguments: { orderId: 'o-1' } } });
  await full.call(`POST ${path}/rotate`, { body: {} });
  await full.call(`DELETE ${path}`);
}

async function workspace(
  { full, owner, anonymous }: Callers,
  { plain }: Agents,
  settings: ScenarioSettings,
) {
  await keys(full, plain.agentId);
  await full.call('PATCH /api/v1/workspace', { body: { name: 'Acme' } });
  await full.call('PUT /api/v1/plan', { body: { name: 'Team', actionsPerMonth: 10_000 } });
  await full.call('GET /api/v1/usage');
  for (const below of ['', '/models']) await full.call(`GET /api/v1/providers/fake${below}`);
  await full.call('POST /api/v1/providers/fake/test', { body: { model: 'model' } });
  await full.call('PUT /api/v1/providers/empty', { body: { kind: 'openai' } });
  await full.call('PUT /api/v1/providers/wrong', {
    body: { kind: 'openai', baseURL: `${settings.providerUrl}?x` },
  });
  await full.call('GET /api/v1/providers');
  await full.call('DELETE /api/v1/providers/empty');
  const price = { model: 'fake/model', inputPerMillion: '0.20', outputPerMillion: '0.60' };
  await full.call('PUT /api/v1/prices', { body: price });
  await full.call('GET /api/v1/prices');
  await full.call('DELETE /api/v1/prices?model=fake%2Fmodel');
  await full.call('PUT /api/v1/retention', { body: { recordsDays: 90, bodiesDays: 30 } });
  await full.call('GET /api/v1/retention');
  const erased = { variable: 'customer', value: 'c1' };
  await full.call('POST /api/v1/erasures/preview', { body: erased });
  const { erasureId } = await full.call('POST /api/v1/erasures', { body: erased });
  await full.until(`GET /api/v1/erasures/${erasureId}`, ({ status }) => status !== 'processing');
  for (const below of ['', `/${erasureId}`]) await full.call(`GET /api/v1/erasures${below}`);
  await owner.call('PUT /api/v1/me/views', {
    body: { views: [{ name: 'Mine', search: 'status=failed' }] },
  });
  await owner.call('GET /api/v1/me/views');
  await owner.call('PUT /api/v1/me/dismissals', { body: { notice: 'firstSteps', days: null } });
  await owner.call('GET /api/v1/me');
  await members(owner, anonymous);
  for (const query of ['', '?limit=3', '?action=key.create'])
    await owner.call(`GET /api/v1/audit${query}`);
}

async function keys(full: RecordedCaller, agentId: string): Promise<void> {
  const { apiKeyId } = await full.call('POST /api/v1/keys', {
    body: { name: 'Bare', agentIds: null, permissions: ['execute'] },
  });
  await full.call('POST /api/v1/keys', {
    body: {
      ...{ name: 'Full', agentIds: [agentId], permissions: ['execute', 'read'] },
      ...{ rateLimits: { requestsPerMinute: 1, requestsPerHour: null, requestsPerDay: 10 } },
      ...{ expiresAt: '2099-01-01T00:00:00.000Z', allowedOrigins: ['https://a.example'] },
    },
  });
  await full.call('POST /api/v1/keys', {
    body: { name: '', agentIds: null, permissions: ['fly'] },
  });
  await full.call(`PATCH /api/v1/keys/${apiKeyId}`, { body: { name: 'Renamed' } });
  await full.call(`GET /api/v1/keys/${apiKeyId}/refusals`);
  await full.call(`POST /api/v1/keys/${apiKeyId}/rotate`, { body: { graceSeconds: 3600 } });
  await full.call(`POST /api/v1/keys/${apiKeyId}/revoke`);
  for (const query of ['', '?limit=1']) await full.call(`GET /api/v1/keys${query}`);
}

async function members(owner: RecordedCaller, anonymous: RecordedCaller): Promise<void> {
  const invite = (email: string) =>
    owner.call('POST /api/v1/invitations', { body: { email, role: 'editor' } });
  const { invitationId } = await invite('sam@example.com');
  const { url } = await invite('alex@example.com');
  const token = String(url).split('/').at(-1) ?? '';
  await owner.call('GET /api/v1/invitations');
  await anonymous.call(`GET /api/v1/invitations/by-token/${token}`);
  await anonymous.call('POST /api/v1/invitations/accept', {
    body: { token, name: 'Alex', password: 'correct horse battery' },
  });
  await owner.call(`DELETE /api/v1/invitations/${invitationId}`);
  const { members: list } = await owner.call('GET /api/v1/members');
  const alex = list.find(({ email }: { email: string }) => email === 'alex@example.com');
  await owner.call(`PATCH /api/v1/members/${alex?.userId}`, { body: { role: 'viewer' } });
  await owner.call(`DELETE /api/v1/members/${alex?.userId}`);
}

async function refuse({ full, owner }: Callers, { plain }: Agents): Promise<void> {
  for (const caller of [full, owner]) {
    for (const [kind, id] of [
      ['agents', 'agt'],
      ['prompts', 'prm'],
      ['workflows', 'wfl'],
      ['endpoints', 'end'],
      ['tool-servers', 'tsv'],
    ]) {
      await caller.call(`GET /api/v1/${kind}/${id}_${missing}`);
      await caller.call(`PATCH /api/v1/${kind}/${id}_${missing}`, { body: {} });
      await caller.call(`POST /api/v1/${kind}`, { body: { unknown: true } });
    }
  }
  await full.call(`PATCH ${plain.path}`, {
    body: { agentName: 1 },
    headers: { 'if-match': '"stale"' },
  });
  await full.call(`PUT ${plain.path}`, { body: {} });
  await full.call(`GET ${plain.path}/executions/exe_${missing}`);
}

async function remove({ full }: Callers, { plain, rich }: Agents): Promise<void> {
  await full.call(`DELETE ${plain.path}`);
  for (const action of ['disable', 'archive', 'restore', 're-enable', 'rollback']) {
    await full.call(`POST ${plain.path}/lifecycle`, { body: { action } });
  }
  await full.call(`DELETE ${plain.path}`);
  await full.call(`GET ${plain.path}`);
  await full.call(`POST ${rich.path}/lifecycle`, { body: { action: 'disable' } });
  await full.call(`POST ${rich.path}/execute`, { body: { variables: { topic: 'paused' } } });
  await full.call('GET /api/v1/executions?status=unauthorized');
  await full.call('GET /openapi.json');
}
