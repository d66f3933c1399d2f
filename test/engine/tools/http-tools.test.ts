import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { ended } from '../../../harness/agents.ts';
import { makeAgent, makePrompt, move } from '../../../harness/prompts.ts';
import { type Answer, startReceiver, toReceivers } from '../../../harness/receiver.ts';
import { startService } from '../../../harness/service.ts';
import { echoOf } from '../../../harness/tool-agents.ts';
import { addToolServer } from '../../../harness/tool-server.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { createModels } from '../../../src/models/registry.ts';

const models = createModels({
  open: () => assert.fail('no provider is configured'),
  ...{ env: {}, allowedHosts: [] },
});
after(() => models.close());
const service = await startService({ config: toReceivers, models });
after(service.close);
const receiver = await startReceiver();
after(receiver.close);
const { key } = await service.key();
const server = await addToolServer(service, { url: receiver.url });

async function deploy(model: string, reference: object = {}) {
  const tools = [{ server: server.name, tool: 'refund', approval: 'never', ...reference }];
  const prompt = await makePrompt(service, { user: '{{text}}', model, tools });
  const agent = await makeAgent(service, prompt);
  await move(service, agent, 'enable-api', 'deploy');
  return agent;
}

async function execute({ path }: { path: string }, more: object = {}) {
  const body = { variables: { text: 'Pay it back.' }, ...more };
  const accepted = await service.call('POST', `${path}/execute`, { key, body });
  if (accepted.status !== 202) return accepted.body;
  const at = `${path}/executions/${accepted.body.executionId}?wait=60`;
  return (await service.call('GET', at, { key })).body;
}

const once = echoOf([['refund', { orderId: 'o-1', cents: 5 }]]);
const text = (body: string, code = 200): Answer => {
  return (_, response) => void response.writeHead(code).end(body);
};

test('an execution calls a tool by a signed request, and its model reads the result', async () => {
  receiver.answer = text('{"refunded":true}');
  const before = receiver.requests.length;
  const record = await execute(await deploy(once));
  assert.deepEqual([record.status, record.outputText], ['success', 'Pay it back.']);
  assert.deepEqual([record.turns, record.toolCallsMade], [2, 1]);
  const requests = receiver.requests.slice(before);
  assert.equal(requests.length, 1);
  const [request] = requests;
  assert.ok(request);
  assert.deepEqual(JSON.parse(request.body), { orderId: 'o-1', cents: 5 });
  const { headers } = request;
  new Webhook(server.signingSecret).verify(request.body, headers);
  assert.equal(headers['cueline-execution'], record.executionId);
  assert.match(headers.traceparent ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  assert.match(headers['webhook-id'] ?? '', /^tcl_/);
  assert.equal(headers['idempotency-key'], headers['webhook-id']);
});

test('bound values come from the call, whatever the model says', async () => {
  receiver.answer = text('ok');
  const agent = await deploy(once, { bind: { orderId: 'metadata.order' } });
  const refused = await execute(agent);
  assert.deepEqual(
    [refused.code, refused.missingMetadata],
    ['MISSING_METADATA', ['metadata.order']],
  );
  const record = await execute(agent, { metadata: { order: 'mine' } });
  assert.equal(record.status, 'success');
  assert.deepEqual(JSON.parse(receiver.requests.at(-1)?.body ?? ''), { orderId: 'mine', cents: 5 });
});

test('a tool that is gone from its server is not called, and the model is told', async () => {
  const other = await addToolServer(service, { url: receiver.url });
  const agent = await deploy(once, { server: other.name });
  await service.call('PATCH', other.path, { key, body: { tools: [] } });
  const before = receiver.requests.length;
  const record = await execute(agent);
  assert.deepEqual([record.status, receiver.requests.length], ['success', before]);
});

/** An execution with a call in each of two turns, whose owner changes the server while the first is answered. */
async function executeAcross(change: (own: Awaited<ReturnType<typeof addToolServer>>) => unknown) {
  const own = await addToolServer(service, { url: receiver.url });
  const agent = await deploy(twice, { server: own.name });
  receiver.answer = async (_, response) => {
    await change(own);
    receiver.answer = text('second');
    response.end('first');
  };
  const before = receiver.requests.length;
  const record = await execute(agent);
  assert.equal(record.status, 'success', JSON.stringify(record));
  const at = `${agent.path}/executions/${record.executionId}/steps`;
  const { steps } = (await service.call('GET', at, { key })).body;
  const results = steps.flatMap(({ result }: { result?: string }) => result ?? []);
  return { own, results, requests: receiver.requests.slice(before) };
}

const asked = [['refund', { orderId: 'o-1', cents: 5 }]] as const;
const twice = echoOf(asked, asked);

test('what an owner changes holds from the next call of a running execution', async () => {
  const moved = await startReceiver(text('elsewhere'));
  after(moved.close);
  let secret = '';
  const changed = await executeAcross(async ({ path }) => {
    await service.call('PATCH', path, {
      key,
      body: { url: moved.url, headers: { 'x-shop': 's' } },
    });
    secret = (await service.call('POST', `${path}/rotate`, { key })).body.signingSecret;
  });
  assert.deepEqual(changed.results, ['first', 'elsewhere']);
  assert.equal(changed.requests.length, 1);
  const [request] = moved.requests;
  assert.equal(request?.headers['x-shop'], 's');
  new Webhook(secret).verify(request?.body ?? '', request?.headers ?? {});
  assert.throws(() =>
    new Webhook(changed.own.signingSecret).verify(request?.body ?? '', request?.headers ?? {}),
  );
});

for (const [what, change, told] of [
  [
    'disabled',
    (path: string) => service.call('PATCH', path, { key, body: { enabled: false } }),
    'The tool server is disabled.',
  ],
  [
    'without the tool',
    (path: string) => service.call('PATCH', path, { key, body: { tools: [] } }),
    'The tool server no longer has this tool.',
  ],
  [
    'deleted',
    (_: string, id: string) =>
      sql`delete from tool_servers where id = ${fromId('toolServer', id)}`.execute(service.db),
    'The tool server no longer exists.',
  ],
] as const) {
  test(`a server that is ${what} gets no further call of a running execution`, async () => {
    const { results, requests } = await executeAcross(({ path, toolServerId }) =>
      change(path, toolServerId),
    );
    assert.deepEqual(results, ['first', told]);
    assert.equal(requests.length, 1);
  });
}

test('an unsafe call whose outcome is unknown leaves once, a safe one again with the same key', async () => {
  receiver.answer = text('', 503);
  const before = receiver.requests.length;
  const record = await execute(await deploy(once));
  assert.deepEqual([record.status, record.errorCode], ['failed', 'TOOL_OUTCOME_UNKNOWN']);
  assert.equal(receiver.requests.length, before + 1);
  receiver.answer = (request, response) => {
    const isFirst =
      receiver.requests.filter(
        ({ headers }) => headers['webhook-id'] === request.headers['webhook-id'],
      ).length === 1;
    response.writeHead(isFirst ? 503 : 200).end('ok');
  };
  const safe = await execute(await deploy(once, { safe: true, approval: undefined }));
  assert.equal(safe.status, 'success');
  const ids = receiver.requests.slice(before + 1).map(({ headers }) => headers['idempotency-key']);
  assert.equal(ids.length, 2);
  assert.equal(new Set(ids).size, 1);
});

test('a draft of a playground calls the tools that it was stored with', async () => {
  receiver.answer = text('{"refunded":true}');
  const agent = await deploy('cueline/echo');
  const tools = [{ server: server.name, tool: 'refund', approval: 'never' }];
  const run = (reference: object) =>
    service.call('POST', `/api/agents/${agent.agentId}/execute`, {
      user: service.ownerId,
      body: {
        ...{ playground: true, variables: { text: 'Pay it back.' } },
        draft: { user: '{{text}}', model: once, tools: [{ ...tools[0], ...reference }] },
      },
    });
  const { status, body } = await run({});
  assert.equal(status, 202, JSON.stringify(body));
  const record = await ended(service, body.statusUrl, key);
  assert.deepEqual(
    [record.promptVersionLabel, record.turns, record.toolCallsMade],
    [...['draft', 2, 1]],
  );
  const refused = await run({ approval: 'always' });
  assert.equal(refused.status, 400);
  assert.match(refused.body.message, /^Field "(draft\.)?tools\.0\.approval"/);
});
