import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../harness/created-workflows.ts';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { during } from '../../../harness/locks.ts';
import { startReceiver, toReceivers } from '../../../harness/receiver.ts';
import { putRecords, remainingIds } from '../../../harness/records.ts';
import { runRetentionRound } from '../../../harness/retention-round.ts';
import { startService } from '../../../harness/service.ts';
import { tablesWith } from '../../../harness/tables-with.ts';
import { sql } from '../../../src/db/sql.ts';

/** What happens while an erasure works. */

const service = await startService({ config: { ...toReceivers, listPerMinute: 10_000 } });
after(service.close);
const { db, call, models, workspaceId } = service;
const { key } = await service.key();
const round = () => runRetentionRound(db, service.database);
const eventTypes = ['execution.succeeded', 'workflow_run.succeeded'];
const labels = {
  user: 'Zerlina',
  session: 'Zerlina 1',
  tags: ['Zerlina', 'paid'],
  metadata: { customer: 'Zerlina' },
};
const nobody = { user: null, session: null, tags: null, metadata: null };

async function requested(erasure: object): Promise<string> {
  const { status, body } = await call('POST', '/api/v1/erasures', { key, body: erasure });
  assert.equal(status, 202);
  return `/api/v1/erasures/${body.erasureId}`;
}

async function completed(at: string): Promise<void> {
  for (;;) {
    await round();
    const { body } = await call('GET', at, { key });
    if (body.status === 'completed') return;
  }
}

/** The statistics keep other labels than the erased one, until an erasure of these. */
async function tablesWithName(): Promise<string[]> {
  const tables = await tablesWith(db, 'Zerlina');
  return tables.filter((name) => name !== 'label_changes' && name !== 'label_counts');
}

for (const [by, erasure] of Object.entries({
  user: { user: 'Zerlina' },
  tag: { tag: 'Zerlina' },
  metadata: { metadata: { customer: 'Zerlina' } },
  variable: { variable: 'name', value: 'Zerlina' },
})) {
  test(`by ${by}: the event of an execution that runs meanwhile names nobody, and full data is gone`, async () => {
    const receiver = await startReceiver((request, response) => response.end(request.body));
    after(receiver.close);
    const settings = { url: receiver.url, eventTypes, payload: 'full' };
    const endpoint = await addEndpoint(service, key, settings);
    const agent = await addAgent(service);
    const held = models.hold();
    const body = { variables: { name: 'Zerlina' }, ...labels };
    const accepted = await call('POST', `${agent.path}/execute`, { key, body });
    await held.arrived;
    const at = await requested(erasure);
    // Variables are only read by the scan; what ends before it is deleted like any other record.
    if (by === 'variable') await round();
    held.release();
    const [request] = await receiver.received(1);
    const data = request?.event.data ?? {};
    assert.equal(data.executionId, accepted.body.executionId);
    assert.deepEqual({ ...nobody, ...data }, { ...data, ...nobody, gone: true });
    assert.doesNotMatch(request?.body ?? '', /Zerlina/);

    await endpoint.delivered(String(request?.headers['webhook-id']));
    await completed(at);
    assert.equal((await call('GET', accepted.body.statusUrl, { key })).status, 404);
    assert.deepEqual(await tablesWithName(), []);
    const query = 'level=all&groupBy=tag';
    const { body: statistics } = await call('GET', `${agent.path}/statistics?${query}`, { key });
    // The tags that do not name the person stay counted.
    const counted = statistics.buckets.map((one: Record<string, unknown>) => [one.tag, one.count]);
    const paid = counted.find(([tag]: [string]) => tag === 'paid');
    assert.deepEqual(paid, ['paid', 1]);
    await endpoint.call('DELETE');
  });
}

for (const [by, erasure] of Object.entries({
  tag: { tag: 'Zerlina' },
  variable: { variable: 'name', value: 'Zerlina' },
})) {
  test(`by ${by}: the event of a workflow run that runs meanwhile names nobody`, async () => {
    const endpoint = await addEndpoint(service, key, { url: null, eventTypes });
    const agent = await addAgent(service);
    const workflow = await makeWorkflow(service, greeting(agent.agentId));
    const start = async () => {
      const body = { input: { name: 'Zerlina' }, ...labels };
      return (await call('POST', `${workflow.path}/execute`, { key, body })).body;
    };
    const before = await start();
    await ended(service, before.statusUrl, key);
    const held = models.hold();
    const live = await start();
    await held.arrived;
    const at = await requested(erasure);
    await round();
    held.release();
    await ended(service, live.statusUrl, key);
    const { body: list } = await call('GET', '/api/v1/events?limit=100', { key });
    const ofRuns = list.events.filter(({ type }: { type: string }) => type.startsWith('workflow'));
    const event = ofRuns.findLast(
      ({ data }: { data: Record<string, unknown> }) => data.workflowRunId === live.workflowRunId,
    );
    assert.deepEqual(
      [event.data.user, event.data.session, event.data.metadata],
      [null, null, null],
    );
    await completed(at);
    assert.deepEqual(await tablesWithName(), []);
    await endpoint.call('DELETE');
  });
}

test('the answer to an event that is erased while it is sent is not stored', async () => {
  const answering = Promise.withResolvers<() => void>();
  const receiver = await startReceiver((request, response) =>
    answering.resolve(() => response.end(request.body)),
  );
  after(receiver.close);
  const endpoint = await addEndpoint(service, key, { url: receiver.url, eventTypes });
  const agent = await addAgent(service);
  const body = { variables: { name: 'x' }, ...labels };
  const accepted = await call('POST', `${agent.path}/execute`, { key, body });
  await ended(service, accepted.body.statusUrl, key);
  const answer = await answering.promise;
  await completed(await requested({ user: 'Zerlina' }));
  answer();
  const [request] = await receiver.received(1);
  assert.match(request?.body ?? '', /Zerlina/);
  const { attempts } = await endpoint.delivered(String(request?.headers['webhook-id']));
  assert.deepEqual(
    attempts.map(({ status, answer: stored }) => [status, stored]),
    [[200, null]],
  );
  assert.deepEqual(await tablesWithName(), []);
  await endpoint.call('DELETE');
});

test('what an admission that began before the request commits later is erased', async () => {
  const agent = await addAgent(service);
  let ids: string[] = [];
  const at = await requested({ variable: 'name', value: 'Yolanda' });
  // As an admission does: it holds the lock of the workspace, and its executions have ids of the time of that lock.
  await during(
    db,
    async (trx) => {
      await sql`select from limits where subject = ${workspaceId} for update`.execute(trx);
      const record = { workspaceId, agentId: agent.id, atMs: Date.now() - 60_000 };
      ids = await putRecords(trx, [{ ...record, variables: '{"name":"Yolanda"}' }]);
    },
    () => completed(at),
  );
  assert.deepEqual(await remainingIds(db, ids), []);
});
