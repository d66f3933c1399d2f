import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../harness/created-workflows.ts';
import { addEndpoint, verified } from '../../../harness/endpoints.ts';
import { startReceiver, status, toReceivers } from '../../../harness/receiver.ts';
import { startService } from '../../../harness/service.ts';
import { fromId } from '../../../src/core/id.ts';
import { ModelFailure, noCost } from '../../../src/core/model/model-port.ts';
import { sql } from '../../../src/db/sql.ts';

const service = await startService({ config: toReceivers });
after(service.close);
const { key } = await service.key();
const eventTypes = [
  ...['execution.succeeded', 'execution.failed', 'execution.canceled'],
  ...['workflow_run.succeeded', 'workflow_run.failed', 'workflow_run.canceled'],
];
const labels = { user: 'u1', session: 's1', tags: ['a', 'b'], metadata: { plan: 'pro', n: '1' } };

/** Executes the agent and returns its record once it has ended. */
async function execute(path: string, body: object = {}) {
  const accepted = await service.call('POST', `${path}/execute`, {
    ...{ key, body: { variables: { name: 'Ada' }, ...body } },
  });
  assert.equal(accepted.status, 202);
  const { statusUrl } = accepted.body;
  return { statusUrl, ended: await service.call('GET', `${statusUrl}?wait=30`, { key }) };
}

async function receive(settings: object = {}) {
  const receiver = await startReceiver();
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url, eventTypes, ...settings });
  return { receiver, endpoint };
}

test('an end is reported with who it was for, in the transaction of the end', async () => {
  const { receiver, endpoint } = await receive();
  const { agentId, path } = await addAgent(service);
  const { ended } = await execute(path, labels);
  const [request] = await receiver.received(1);
  assert.ok(request);
  const { type, timestamp, data } = verified(endpoint.secret, request);
  const { sequence, ...rest } = data;
  assert.ok(sequence >= 1);
  const { executionId, tokensUsed, costUSD, completedAt } = ended.body;
  assert.deepEqual(
    [type, timestamp, rest],
    [
      'execution.succeeded',
      completedAt,
      { executionId, agentId, status: 'success', errorCode: null, tokensUsed, costUSD, ...labels },
    ],
  );
  assert.equal(receiver.requests.length, 1);
  await endpoint.call('DELETE');
});

test('failures and cancels are reported without labels as null', async () => {
  const { receiver, endpoint } = await receive();
  const { path } = await addAgent(service);
  service.models.script(new ModelFailure('PROVIDER_AUTH', 'No.', { cost: noCost }));
  await execute(path);
  const held = service.models.hold();
  const accepted = await service.call('POST', `${path}/execute`, {
    ...{ key, body: { variables: { name: 'Ada' } } },
  });
  await held.arrived;
  await service.call('POST', `${accepted.body.statusUrl}/cancel`, { key });
  const requests = await receiver.received(2);
  const byType = new Map(requests.map(({ event }) => [event.type, event.data]));
  const data = byType.get('execution.failed');
  assert.deepEqual([data?.status, data?.errorCode], ['failed', 'PROVIDER_AUTH']);
  const canceled = byType.get('execution.canceled');
  assert.deepEqual(
    [canceled?.executionId, canceled?.status, canceled?.errorCode],
    [accepted.body.executionId, 'canceled', 'CANCELED'],
  );
  const { user, session, tags, metadata } = data ?? {};
  assert.deepEqual([user, session, tags, metadata], [null, null, null, null]);
  await endpoint.call('DELETE');
});

test('a full payload has the output and the variables; once they are deleted, it is thin', async () => {
  const { receiver, endpoint } = await receive({ payload: 'full' });
  const { path } = await addAgent(service);
  const { ended, statusUrl } = await execute(path);
  const [first] = await receiver.received(1);
  const data = first?.event.data ?? {};
  assert.deepEqual(
    [data.outputText, data.outputJson, data.inputVariables, data.gone],
    [ended.body.outputText, null, { name: 'Ada' }, undefined],
  );
  const eventId = String(first?.headers['webhook-id']);
  const logged = await endpoint.delivered(eventId);
  assert.equal('outputText' in logged.request.data, false);
  assert.equal((await service.call('DELETE', statusUrl, { key })).status, 204);
  await endpoint.call('POST', `/deliveries/${eventId}/resend`);
  const [, second] = await receiver.received(2);
  assert.equal(second?.event.data.gone, true);
  assert.deepEqual(second?.event.data, { ...logged.request.data, gone: true });
  await endpoint.call('DELETE');
});

test('workflow runs report their end', async () => {
  const { receiver, endpoint } = await receive({ eventTypes: ['workflow_run.succeeded'] });
  const agent = await addAgent(service);
  const workflow = await makeWorkflow(service, greeting(agent.agentId));
  const { body } = await service.call('POST', `${workflow.path}/execute`, {
    ...{ key, body: { input: { name: 'Ada' }, ...labels } },
  });
  const [request] = await receiver.received(1);
  const { sequence: _, ...data } = request?.event.data ?? {};
  assert.deepEqual(data, {
    ...{ workflowRunId: body.workflowRunId, workflowId: workflow.path.split('/').at(-1) },
    ...{ status: 'success', errorCode: null, ...labels },
  });
  await endpoint.call('DELETE');
});

test('an erasure removes the user from events and from the delivery log', async () => {
  const receiver = await startReceiver((request, response) => response.end(request.body));
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url, eventTypes });
  const { path } = await addAgent(service);
  await execute(path, { ...labels, user: 'erased' });
  await execute(path, { ...labels, user: 'other' });
  const requests = await receiver.received(2);
  for (const { headers } of requests) await endpoint.delivered(String(headers['webhook-id']));
  const erasure = { key, body: { user: 'erased' } };
  assert.equal((await service.call('POST', '/api/v1/erasures', erasure)).status, 202);
  const log = await endpoint.deliveries();
  assert.deepEqual(
    log.map(({ request: { data }, attempts }) => [data.user, data.metadata, attempts[0]?.answer]),
    requests
      .toReversed()
      .map(({ event: { data }, body }) =>
        data.user === 'erased' ? [null, null, null] : [data.user, data.metadata, body],
      ),
  );
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from (
      select data::text as text from events union all select attempts::text from deliveries) as all_texts
    where text like '%erased%'`.execute(service.db);
  assert.equal(rows[0]?.n, 0);
  await endpoint.call('DELETE');
});

test('a deleted execution without a user leaves no session and metadata in its event', async () => {
  const { endpoint } = await receive();
  const { path } = await addAgent(service);
  const { user: _, ...others } = labels;
  const { ended } = await execute(path, others);
  const [before] = await endpoint.deliveries();
  assert.ok(before?.request.data.session);
  const deletion = await service.call('DELETE', `${path}/executions/${ended.body.executionId}`, {
    key,
  });
  assert.equal(deletion.status, 204);
  const [after] = await endpoint.deliveries();
  assert.deepEqual([after?.request.data.session, after?.request.data.metadata], [null, null]);
  await endpoint.call('DELETE');
});

test('an end whose transaction rolled back is not reported, and its repetition once', async () => {
  const { receiver, endpoint } = await receive();
  const { path } = await addAgent(service);
  // The first transaction fails after the event was written.
  await sql`
    create function fail_once() returns trigger language plpgsql as $$
    begin
      if nextval('failures') = 1 then raise exception 'once' using errcode = '40001'; end if;
      return null;
    end $$`.execute(service.db);
  await sql`create sequence failures`.execute(service.db);
  await sql`
    create constraint trigger fail_once after insert on events deferrable initially deferred
      for each row execute function fail_once()`.execute(service.db);
  const { ended } = await execute(path);
  assert.equal(ended.body.status, 'success');
  const [request] = await receiver.received(1);
  await endpoint.delivered(String(request?.headers['webhook-id']));
  await sql`drop trigger fail_once on events`.execute(service.db);
  const id = fromId('execution', ended.body.executionId);
  const { rows } = await sql`select from events where subject = ${id}`.execute(service.db);
  assert.deepEqual([rows.length, receiver.requests.length], [1, 1]);
  await endpoint.call('DELETE');
});

test('a Slack endpoint gets one text', async () => {
  const { receiver, endpoint } = await receive({ format: 'slack', payload: 'full' });
  receiver.answer = status(200);
  const { path } = await addAgent(service);
  await execute(path);
  const [request] = await receiver.received(1);
  assert.deepEqual(Object.keys(JSON.parse(request?.body ?? '{}')), ['text']);
  await endpoint.call('DELETE');
});
