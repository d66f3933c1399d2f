import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { freshId } from '../../../../harness/fresh-id.ts';
import { openEvents, readEvents } from '../../../../harness/read-events.ts';
import { startService } from '../../../../harness/service.ts';
import {
  addWorkflow,
  endOfRun,
  startRun,
  step,
  withText,
} from '../../../../harness/workflow-runs.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service, { user: '{{text}}', config: { stream: true } });
const workflow = await addWorkflow(service, {
  steps: [
    step({ name: 'first', agent, ...withText('{{input.text}}') }),
    step({ name: 'second', agent, ...withText('{{steps.first.output}}!'), after: ['first'] }),
  ],
});

/** A run whose first step has shown `Hel` and waits. */
async function start() {
  const shown = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  service.models.script(async (_call, emit) => {
    emit({ type: 'text', text: 'Hel' });
    shown.resolve();
    await release.promise;
    return { text: 'lo' };
  });
  const runId = await startRun(service, workflow, key, { text: 'x' });
  await shown.promise;
  return { runId, release: release.resolve };
}

/** By the stored id. */
const path = (runId: string, query = '') =>
  `${service.url}/api/v1/workflows/${workflow.workflowId}/runs/${toId('workflowRun', runId)}/stream${query}`;

test('the states of the steps, then the run', async () => {
  const { runId, release } = await start();
  const stream = await openEvents(path(runId), { key });
  assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const begun = await stream.until(({ data }) => data.name === 'second');
  const [first] = begun.filter(({ data }) => data.name === 'first');
  assert.equal(first?.data.status, 'processing');
  assert.match(first.data.executionId, /^exe_/);
  release();
  const rest = await stream.until(() => false);
  await endOfRun(service, workflow, runId);
  assert.equal(rest.at(-1)?.event, 'end');
  const { body } = await service.call(
    'GET',
    path(runId).slice(service.url.length, -'/stream'.length),
    { key },
  );
  assert.deepEqual(rest.at(-1)?.data, body);
  const last = rest.filter(({ data }) => data.name === 'second').at(-1);
  assert.equal(last?.data.status, 'success');
  assert.ok(rest.every(({ event }) => event === 'step' || event === 'end'));
});

test('with step, its text as it arrives', async () => {
  const { runId, release } = await start();
  const stream = await openEvents(path(runId, '?step=first'), { key });
  const begun = await stream.until(({ event }) => event === 'text');
  assert.deepEqual(begun.at(-1)?.data, { attempt: 1, offset: 0, text: 'Hel' });
  const late = await openEvents(path(runId, '?step=first&after=1.2'), { key });
  const resumed = await late.until(({ event }) => event === 'text');
  assert.deepEqual(resumed.at(-1)?.data, { attempt: 1, offset: 2, text: 'l' });
  late.close();
  release();
  const rest = await stream.until(() => false);
  const texts = rest.filter(({ event }) => event === 'text').map(({ data }) => data.text);
  assert.deepEqual([texts.join(''), rest.at(-1)?.event], ['lo', 'end']);
  const again = await readEvents(path(runId, '?step=second'), { key });
  assert.deepEqual(
    again.filter(({ event }) => event === 'text').map(({ data }) => data.text),
    ['Hello!'],
  );
});

test('unknown runs and steps, and invalid positions', async () => {
  const { runId, release } = await start();
  release();
  await endOfRun(service, workflow, runId);
  const call = (query: string) =>
    service.call('GET', path(runId, query).slice(service.url.length), { key });
  assert.equal((await call('?step=third')).status, 404);
  assert.equal((await call('?after=x')).status, 400);
  const other = path(freshId()).slice(service.url.length);
  assert.equal((await service.call('GET', other, { key })).status, 404);
});
