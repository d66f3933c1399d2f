import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { addAgent, ended } from '../../../harness/agents.ts';
import { batchWhen, jsonLines, namedLines, unlimited, upload } from '../../../harness/batches.ts';
import { setPrice } from '../../../harness/prices.ts';
import { startService } from '../../../harness/service.ts';
import { addWorkflow, endOfRun, startRun, step, withText } from '../../../harness/workflow-runs.ts';
import { storedId } from '../../../src/core/id.ts';
import { type AnswerDetails, noDetails } from '../../../src/core/model/model-port.ts';

/**
 * The statements of each round trip of the hot paths. A further one costs each execution: a change here needs a reason, and the
 * figures of `npm run bench -- compare`.
 */

const service = await startService();
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });
const agent = await addAgent(service, { user: '{{text}}' });

interface Connection {
  bind(config: { statement?: string }, more: boolean): void;
  sync(): void;
}

/** The round trips of transactions on pipelines, each with the names of its statements; of those in a row, a repetition once. */
const trips: string[] = [];
const { prototype } = (pg as unknown as { Connection: { prototype: Connection } }).Connection;
const { bind, sync } = prototype;
const sent = new WeakMap<Connection, string[]>();
prototype.bind = function (config, more) {
  const names = sent.get(this) ?? [];
  sent.set(this, [...names, config.statement ?? '']);
  bind.call(this, config, more);
};
prototype.sync = function () {
  const names = sent.get(this) ?? [];
  sent.delete(this);
  const trip = names.join(' ');
  if ((names[0] === 'begin' || names.at(-1) === 'commit') && !trips.includes(trip))
    trips.push(trip);
  sync.call(this);
};
after(() => Object.assign(prototype, { bind, sync }));

/** The round trips of `work`, once it has been done before: what is cached then stays so. */
async function tripsOf(work: () => Promise<void>): Promise<string[]> {
  await work();
  trips.length = 0;
  await work();
  return trips.splice(0);
}

async function executed(text = 'x'): Promise<void> {
  const body = { variables: { text } };
  const { body: accepted } = await service.call('POST', `${agent.path}/execute`, { key, body });
  assert.equal((await ended(service, accepted.statusUrl, key)).status, 'success');
}
const readCall =
  'begin admission-lock-limits admission-read-keys admission-read-agents admission-read-workspaces admission-read-clock admission-read-refusals admission-lock-worker';

test('an execution is accepted in two round trips, and ended in two', async () => {
  assert.deepEqual(await tripsOf(() => executed()), [
    readCall,
    'admission-update-counts admission-insert-executions commit',
    'begin finish-lock-queue',
    'completion-move-to-history statistics-add statistics-add-breakdown commit',
  ]);
});

test('a limit of cost adds no statement to an accept or an end', async () => {
  await setPrice(service, 'cueline/echo?limited=', { inputPerMillion: '1', outputPerMillion: '1' });
  const limited = await addAgent(service, {
    ...{ user: '{{text}}', model: 'cueline/echo?limited=' },
    config: { maxCostUSD: 1 },
  });
  const work = async () => {
    const body = { variables: { text: 'x' } };
    const { body: accepted } = await service.call('POST', `${limited.path}/execute`, { key, body });
    assert.equal((await ended(service, accepted.statusUrl, key)).status, 'success');
  };
  assert.deepEqual(await tripsOf(work), [
    readCall,
    'admission-update-counts admission-insert-executions commit',
    'begin finish-lock-queue',
    'completion-move-to-history statistics-add statistics-add-breakdown commit',
  ]);
});

test('only a message with calls and reasoning takes one more statement, in the same round trip', async () => {
  const call = { id: 'c1', name: 'find', arguments: {} };
  const message = {
    provider: 'p',
    content: [],
    shownText: '',
    fields: { reasoning_content: 'Hm.' },
  };
  const lastTrip = async (details: AnswerDetails) => {
    const calling = async () => {
      service.models.script({ text: '', toolCalls: [call], details });
      await executed();
    };
    return (await tripsOf(calling)).at(-1);
  };
  assert.equal(
    await lastTrip(noDetails),
    'completion-move-to-history statistics-add statistics-add-breakdown commit',
  );
  assert.equal(
    await lastTrip({ ...noDetails, message }),
    'completion-move-to-history completion-insert-tool-calls statistics-add statistics-add-breakdown commit',
  );
});

test('long contents are written in a round trip before any lock, and not again', async () => {
  assert.deepEqual(await tripsOf(() => executed('x'.repeat(1_100_000))), [
    'begin admission-stage-contents',
    'admission-update-counts admission-complete-staged commit',
    'begin finish-lock-queue',
    'completion-move-to-history statistics-add statistics-add-breakdown commit',
  ]);
});

test('a workflow run starts in two round trips, and each step is called in two and ended in two', async () => {
  const first = step({ name: 'a', agent, ...withText('x') });
  const second = step({ name: 'b', agent, after: ['a'], ...withText('y') });
  const workflow = await addWorkflow(service, { steps: [first, second] });
  const run = async () => {
    const { run: ofRun } = await endOfRun(
      service,
      workflow,
      await startRun(service, workflow, key),
    );
    assert.equal(ofRun.status, 'success');
  };
  assert.deepEqual(await tripsOf(run), [
    'begin start-lock-keys read-keys start-read-workflows start-read-clock',
    'admission-update-counts start-insert-runs progress-upsert-steps commit',
    `${readCall} steps-lock-ready`,
    'admission-update-counts admission-insert-executions steps-mark-called commit',
    'begin progress-lock-runs finish-lock-queue progress-read-steps progress-count-items',
    'completion-move-to-history progress-upsert-steps statistics-add statistics-add-breakdown commit',
    'completion-move-to-history progress-upsert-steps progress-stop-steps progress-end-runs statistics-add statistics-add-breakdown commit',
  ]);
});

test('a limit of cost of a workflow run adds one read to its start, and its window to the calls and ends of its steps', async () => {
  await setPrice(service, 'priced/model', { inputPerMillion: '1', outputPerMillion: '1' });
  const priced = await addAgent(service, { user: '{{text}}', model: 'priced/model' });
  const workflow = await addWorkflow(service, {
    steps: [step({ name: 'a', agent: priced, ...withText('x') })],
  });
  const path = `/api/v1/workflows/${workflow.workflowId}/execute`;
  const run = async () => {
    const body = { input: {}, maxCostUSD: 1 };
    const { body: started } = await service.call('POST', path, { key, body });
    await endOfRun(service, workflow, storedId('workflowRun', started.workflowRunId));
  };
  // A call reads its window in between: only the first and the last round trip of a transaction are noted.
  assert.deepEqual(await tripsOf(run), [
    'begin start-lock-keys read-keys start-read-workflows start-read-clock start-find-careless-workers',
    'admission-update-counts start-insert-runs progress-upsert-steps commit',
    `${readCall} steps-lock-ready`,
    'admission-update-counts admission-insert-executions steps-mark-called budgets-upsert-windows commit',
    'begin progress-lock-runs finish-lock-queue progress-read-steps progress-count-items',
    'completion-move-to-history completion-insert-settlements progress-upsert-steps progress-stop-steps progress-end-runs statistics-add statistics-add-breakdown commit',
  ]);
});

test('lines of a batch start together in two round trips, and end in two', async () => {
  const lines = namedLines(2).map((line) => ({ ...line, variables: { text: 'x' } }));
  const uploaded = async () => {
    const { body } = await upload(service, agent, jsonLines(lines), { key });
    await batchWhen(service, body.statusUrl, key);
  };
  const [read, write, lock, ...ends] = await tripsOf(uploaded);
  assert.deepEqual(
    [read, write, lock],
    [
      `${readCall} batch-lock batch-read-agent batch-read-waiting`,
      'admission-update-counts admission-insert-executions batch-update-lines batch-update commit',
      'begin finish-lock-queue batch-lock',
    ],
  );
  // Both lines may end together. The last one reports the end of the batch.
  const end =
    'completion-move-to-history batch-update-lines batch-update statistics-add statistics-add-breakdown';
  const last = `${end} events-lock-counters events-insert commit`;
  assert.deepEqual(ends.toSorted(), ends.length === 1 ? [last] : [`${end} commit`, last]);
});
