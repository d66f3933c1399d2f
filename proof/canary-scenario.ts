import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestDatabase } from '../harness/database.ts';
import { failing, type Step } from '../harness/fake-provider.ts';
import { freePort } from '../harness/free-port.ts';
import { addKey, addWorkspace } from '../harness/people.ts';
import { openDatabase } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import type { Canaries } from './canaries.ts';
import { createBrowser } from './canary-browser.ts';
import type { ProofEnvironment } from './environment.ts';

/** The output of the service, by channel. */
export interface Sinks {
  readonly output: string[];
  readonly logs: string[];
  readonly errors: string[];
  readonly metrics: string[];
  readonly traces: string[];
  /** Responses to callers who may see user content, and to callers who may not. */
  readonly answers: string[];
  readonly strangers: string[];
  readonly dump: string[];
  /** The executions by status, and the number of dumped rows. */
  readonly counts: Record<string, number>;
}

/**
 * Exercises one service at the most verbose log level: first start, users, prompts, keys, executions that succeed and
 * fail in every way, malformed calls, database errors and disconnects, a failed start.
 */
export async function runScenario(
  { secrets, contents }: Canaries,
  environment: ProofEnvironment,
): Promise<Sinks> {
  const { connection, drop } = await createTestDatabase();
  const db = openDatabase({ connection, poolMax: 2, onError() {} });
  const sinks: Sinks = {
    ...{ output: [], logs: [], errors: [], metrics: [], traces: [], answers: [], strangers: [] },
    ...{ dump: [], counts: {} },
  };
  const collector = createServer(async (request, response) => {
    for await (const chunk of request) sinks.traces.push(String(chunk));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  // An error page often repeats the address.
  const receiver = createServer((request, response) => {
    response.writeHead(404).end(`Cannot ${request.method} ${request.url}`);
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const receiverHost = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const port = await freePort();
  const get = (name: string) => secrets.get(name) ?? contents.get(name) ?? '';
  secrets.set('databasePassword', String(connection.password));
  try {
    const url = `http://127.0.0.1:${port}`;
    const env = {
      ...{ CUELINE_LOG_LEVEL: 'trace', PORT: String(port), CUELINE_PUBLIC_URL: url },
      ...{ CUELINE_SECRET: get('serverSecret'), CUELINE_METRICS_TOKEN: get('metricsToken') },
      ...{ CUELINE_OWNER_EMAIL: 'owner@example.com', CUELINE_OWNER_PASSWORD: get('ownerPassword') },
      ...{ CUELINE_OIDC_ISSUER: 'http://127.0.0.1:1', CUELINE_OIDC_CLIENT_ID: 'cueline' },
      ...{ CUELINE_OIDC_CLIENT_SECRET: get('issuerSecret'), CUELINE_GITHUB_CLIENT_ID: 'cueline' },
      CUELINE_GITHUB_CLIENT_SECRET: get('githubSecret'),
      OPENAI_API_KEY: get('environmentKey'),
      OPENAI_BASE_URL: environment.provider.url,
      CUELINE_ALLOWED_HOSTS: `${environment.provider.host},${receiverHost}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${get('collectorToken')}`,
    };
    const process = await environment.spawn('start', env, connection);
    const browser = createBrowser(url, sinks);

    // Members.
    const credentials = { email: 'owner@example.com', password: get('wrongPassword') };
    await browser.post('/api/auth/sign-in/email', credentials);
    await browser.signIn('owner@example.com', get('ownerPassword'));
    secrets.set('sessionCookie', browser.cookie().replace(/^[^=]*=/, ''));
    await browser.post('/api/auth/sign-in/social', { provider: 'oidc' });
    await browser.post('/api/auth/sign-in/social', { provider: 'github' });
    const invited = await browser.post('/api/v1/invitations', {
      email: 'm@example.com',
      role: 'viewer',
    });
    const token =
      String(invited.url ?? '')
        .split('/')
        .at(-1) ?? '';
    secrets.set('invitationToken', token);
    const joining = { token, name: 'M', password: get('memberPassword') };
    await browser.post('/api/v1/invitations/accept', { ...joining, token: `${token}x` });
    await browser.post('/api/v1/invitations/accept', joining, { cookie: '' });

    // Resources.
    const key = await browser.post('/api/v1/keys', {
      ...{
        name: 'all',
        agentIds: null,
        permissions: ['execute', 'read', 'cancel', 'manage', 'own'],
      },
    });
    const rotated = await browser.post(`/api/v1/keys/${key.apiKeyId}/rotate`, { graceSeconds: 60 });
    secrets.set('apiKey', String(key.key)).set('rotatedKey', String(rotated.key));
    const authorization = `Bearer ${rotated.key}`;
    const stored = {
      kind: 'openai-compatible',
      apiKey: get('providerKey'),
      baseURL: environment.provider.url,
      headers: { 'x-gateway-key': get('providerHeader') },
      query: { token: get('providerQuery') },
      bodyExtra: { gateway: get('providerBody') },
    };
    await browser.put('/api/v1/providers/acme', stored);
    await browser.put('/api/v1/providers/acme', { ...stored, baseURL: 'http://127.0.0.1:1/' });
    const prompt = await browser.post('/api/v1/prompts', { name: 'Prompt' });
    const version = await browser.post(`/api/v1/prompts/${prompt.promptId}/versions`, {
      system: get('systemPrompt'),
      user: `${get('userPrompt')} {{name}} {{other}}`,
      model: 'acme/m',
    });
    const agents = [];
    for (const model of ['acme/m', 'openai/m']) {
      const agent = await browser.post('/api/v1/agents', {
        agentName: 'Agent',
        promptId: prompt.promptId,
        promptVersionId: version.promptVersionId,
        agentConfig: { model, maxAttempts: 1 },
        defaultVariableValues: { other: get('defaultValue') },
      });
      for (const action of ['enable-api', 'deploy']) {
        await browser.post(`/api/v1/agents/${agent.agentId}/lifecycle`, { action });
      }
      agents.push(`/api/v1/agents/${agent.agentId}`);
    }

    const address = `http://${receiverHost}/services/${get('endpointPath')}?sig=${get('endpointQuery')}`;
    secrets.set('endpointSecret', await notifyEndpoint(browser, address));

    const rich = await createRichAgent(browser, get);
    agents.push(rich);

    // Executions.
    const statusUrls: string[] = [];
    for (const [i, agent] of agents.slice(0, 2).entries()) {
      // Each provider echoes the key that it received.
      for (const step of providerSteps(get, i === 0 ? 'providerKey' : 'environmentKey')) {
        environment.provider.script(step);
        const variables = { name: get('variable') };
        const headers = {
          authorization,
          'idempotency-key': `${get('idempotencyKey')}${statusUrls.length}`,
        };
        const { statusUrl } = await browser.post(`${agent}/execute`, { variables }, headers);
        const record = await browser.get(`${statusUrl}?wait=20`, { authorization });
        sinks.counts[String(record.status)] = (sinks.counts[String(record.status)] ?? 0) + 1;
        statusUrls.push(String(statusUrl));
      }
    }

    for (const step of richSteps(get)) {
      environment.provider.script(step);
      const body = { variables: richVariables(get), ...labelsFor(get) };
      const { statusUrl } = await browser.post(`${rich}/execute`, body, { authorization });
      const record = await browser.get(`${statusUrl}?wait=20`, { authorization });
      sinks.counts[String(record.status)] = (sinks.counts[String(record.status)] ?? 0) + 1;
      statusUrls.push(String(statusUrl));
    }
    // Fails before the model is called: the address is private.
    const unreachable = richVariables(get, { link: `https://127.0.0.1/${get('fileUrl')}.pdf` });
    const refused = await browser.post(
      `${rich}/execute`,
      { variables: unreachable },
      { authorization },
    );
    await browser.get(`${refused.statusUrl}?wait=20`, { authorization });
    statusUrls.push(String(refused.statusUrl));
    const filters = new URLSearchParams({
      ...{ user: get('endUser'), session: get('session'), tag: get('tag') },
      ...{ 'metadata.customer': get('metadata'), q: get('outputJson') },
    });
    const filtered = [`/executions?${filters}`, `/statistics?groupBy=user&user=${get('endUser')}`];
    for (const path of filtered) await browser.get(`${rich}${path}`, { authorization });
    await browser.post('/api/v1/erasures', { user: get('endUser') }, { authorization });

    // Invalid and malformed calls.
    const [agent = ''] = agents;
    const wrong = [
      `{"variables": {"name": "${get('malformed')}`,
      `"${get('malformed')}"`,
      `[1e999, ${get('malformed')}]`,
      `{"variables": {"name": "${get('malformed')}\\u0000"}}`,
      `{"${get('malformed')}": 1}`,
    ];
    for (const body of wrong) await browser.post(`${agent}/execute`, body, { authorization });
    await browser.post(`${agent}/execute`, get('malformed'), {
      authorization,
      'content-type': 'text/plain',
    });
    const wrongKey = `Bearer ${String(rotated.key).slice(0, -1)}_`;
    await browser.post(`${agent}/execute`, { variables: {} }, { authorization: wrongKey });
    await browser.post(`${agent}/execute`, { variables: {} }, { authorization });
    await browser.get(`/api/v1/nothing?token=${rotated.key}`, {});

    // Callers with and without access.
    for (const path of [
      'keys',
      'providers',
      'me',
      'members',
      'invitations',
      'agents',
      'prompts',
      'usage',
    ]) {
      await browser.get(`/api/v1/${path}`, {});
    }
    await browser.get('/api/auth/list-sessions', {});
    const other = await addWorkspace(db);
    const stranger = await addKey(
      db,
      { workspaceId: other.workspaceId, userId: other.ownerId },
      {},
    );
    const lists = [
      ...agents.map((one) => `${one}/executions`),
      ...agents,
      '/api/v1/agents',
      '/api/v1/prompts',
    ];
    for (const path of [
      ...statusUrls,
      ...lists,
      '/api/v1/providers',
      '/api/v1/keys',
      '/api/v1/members',
    ]) {
      await browser.get(path, { authorization: `Bearer ${stranger.key}` }, sinks.strangers);
      await browser.get(path, { cookie: '' }, sinks.strangers);
    }

    // A database that fails, and one that disappears.
    await sql`alter table agents rename to gone`.execute(db);
    await browser.post(
      `${agent}/execute`,
      { variables: { name: get('variable') } },
      { authorization },
    );
    await browser.get('/api/v1/agents', {});
    await sql`alter table gone rename to agents`.execute(db);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
    await browser.post(
      `${agent}/execute`,
      { variables: { name: get('variable') } },
      { authorization },
    );

    for (const headers of [{}, { authorization: `Bearer ${get('metricsToken')}` }]) {
      sinks.metrics.push(await (await fetch(`${url}/metrics`, { headers })).text());
    }
    await process.kill('SIGTERM');
    const { said: printed, logged } = process.output();
    sinks.output.push(printed);
    sinks.logs.push(logged);
    sinks.logs.push(
      await failedStart(environment, env, { ...connection, password: get('wrongPassword') }),
    );
    const { rows: tables } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public'`.execute(db);
    for (const { name } of tables) {
      const { rows } = await sql<{ row: string }>`
        select t::text as row from ${sql.table(name)} t`.execute(db);
      sinks.dump.push(...rows.map(({ row }) => row));
    }
    sinks.counts['rows dumped'] = sinks.dump.length;
    return sinks;
  } finally {
    collector.close();
    receiver.close();
    await db.destroy();
    await drop();
  }
}

/** Creates an endpoint, changes it and sends it a ping, whose answer is in the delivery log. */
async function notifyEndpoint(
  browser: ReturnType<typeof createBrowser>,
  url: string,
): Promise<string> {
  const all = '/api/v1/endpoints';
  const settings = { url, eventTypes: ['key.revoked'] };
  const { endpointId, secret } = await browser.post(all, settings);
  const path = `${all}/${endpointId}`;
  await browser.post(all, { ...settings, format: url });
  await browser.post(`${path}/test`, undefined);
  for (let isAnswered = false; !isAnswered; ) {
    const { deliveries } = await browser.get(`${path}/deliveries`, {});
    const [delivery] = deliveries as { attempts: unknown[] }[];
    isAnswered = (delivery?.attempts.length ?? 0) > 0;
  }
  for (const read of [all, path, '/api/v1/audit']) await browser.get(read, {});
  return String(secret);
}

/** One success and every kind of failure. Errors echo what the provider received. */
function providerSteps(get: (name: string) => string, key: string): Step[] {
  const extras = key === 'providerKey' ? ['providerHeader', 'providerQuery', 'providerBody'] : [];
  const received = [key, ...extras, 'providerError', 'userPrompt', 'variable'];
  const echo = received.map(get).join(' and ');
  return [
    { text: get('output') },
    failing(401, `Incorrect API key provided: ${echo}`, 'invalid_api_key'),
    { ...failing(400, Buffer.from(get(key)).toString('base64')), headers: { 'x-key': echo } },
    { status: 500, body: `Error: ${get('stack')}\n    at run (/srv/app.js:1:1) ${echo}` },
    { status: 200, body: `{"choices": [{"message": ${get('stack')} ${echo}` },
    { status: 200, body: { id: echo, choices: [] } },
    { text: null, refusal: echo },
    { text: echo, finish: 'content_filter' },
    { half: 'reset' },
  ];
}

/** An agent with messages, files, tools and a schema. */
async function createRichAgent(
  browser: ReturnType<typeof createBrowser>,
  get: (name: string) => string,
): Promise<string> {
  const { promptId } = await browser.post('/api/v1/prompts', { name: 'Rich' });
  const { promptVersionId } = await browser.post(`/api/v1/prompts/${promptId}/versions`, {
    messages: [
      { role: 'system', content: get('message') },
      { placeholder: 'history' },
      { role: 'user', content: [{ text: 'See.' }, { image: '{{photo}}' }, { file: '{{link}}' }] },
    ],
    tools: [{ name: 'search' }],
    responseFormat: { type: 'json', schema: { type: 'object', required: ['a'] } },
    model: 'acme/m',
  });
  const { agentId } = await browser.post('/api/v1/agents', {
    ...{ agentName: 'Rich', promptId, promptVersionId },
    agentConfig: { maxAttempts: 1 },
    requiredVariables: ['history', 'photo'],
    optionalVariables: ['link'],
  });
  for (const action of ['enable-api', 'deploy']) {
    await browser.post(`/api/v1/agents/${agentId}/lifecycle`, { action });
  }
  return `/api/v1/agents/${agentId}`;
}

function richVariables(get: (name: string) => string, more: object = {}): object {
  const data = Buffer.from(get('file')).toString('base64');
  return {
    history: [{ role: 'user', content: get('message') }],
    photo: `data:image/png;base64,${data}`,
    ...more,
  };
}

function labelsFor(get: (name: string) => string): object {
  return {
    ...{ user: get('endUser'), session: get('session'), tags: [get('tag')] },
    metadata: { customer: get('metadata') },
  };
}

/** Answers with reasoning, JSON and tool calls, one that does not match its schema, and a refusal. */
function richSteps(get: (name: string) => string): Step[] {
  const answer = (message: object): Step => ({
    status: 200,
    body: {
      ...{ id: 'c', model: 'm', usage: { prompt_tokens: 1, completion_tokens: 1 } },
      choices: [
        {
          ...{ index: 0, finish_reason: 'stop' },
          message: { role: 'assistant', reasoning_content: get('reasoning'), ...message },
        },
      ],
    },
  });
  const call = { name: 'search', arguments: JSON.stringify({ q: get('toolArguments') }) };
  return [
    answer({ content: JSON.stringify({ a: get('outputJson') }) }),
    answer({ content: null, tool_calls: [{ id: 'c1', type: 'function', function: call }] }),
    answer({ content: JSON.stringify({ b: get('outputJson') }) }),
    answer({ content: null, refusal: get('refusal') }),
    failing(400, ['message', 'file', 'endUser'].map(get).join(' and ')),
  ];
}

async function failedStart(
  environment: ProofEnvironment,
  env: Record<string, string>,
  through: ProofEnvironment['connection'],
): Promise<string> {
  const started = await environment
    .spawn('start', env, through)
    .catch((error: Error) => error.message);
  if (typeof started !== 'string') throw new Error('a start with a wrong password succeeded');
  return started;
}
