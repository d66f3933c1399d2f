import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ended } from '../../../harness/agents.ts';
import { batchWhen, jsonLines, namedLines, unlimited, upload } from '../../../harness/batches.ts';
import { openEvents, type ReceivedEvent, textOfEvents } from '../../../harness/read-events.ts';
import { startService } from '../../../harness/service.ts';
import {
  addToolAgent,
  calling,
  executedTool,
  scriptedTools,
  toolResult,
} from '../../../harness/tool-agents.ts';
import { addWorkflow, endOfRun, startRun, step, withText } from '../../../harness/workflow-runs.ts';
import { toId } from '../../../src/core/id.ts';

const tools = scriptedTools();
const service = await startService({ tools });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });
const agent = await addToolAgent(service, [executedTool()]);

test('a workflow step and a line of a batch end with the answer of the last turn', async () => {
  service.models.script(calling(['act', {}]), { text: 'of the step' });
  const workflow = await addWorkflow(service, {
    steps: [step({ name: 'only', agent, ...withText('go') })],
  });
  const { run, steps } = await endOfRun(service, workflow, await startRun(service, workflow, key));
  assert.equal(run.status, 'success');
  const executionId = toId('execution', steps.get('only')?.executionId ?? '');
  const path = `${agent.path}/executions/${executionId}`;
  const { body: record } = await service.call('GET', path, { key });
  assert.deepEqual([record.outputText, record.turns], ['of the step', 2]);
  service.models.script(calling(['act', {}]), { text: 'of the line' });
  const lines = namedLines(1).map((line) => ({ ...line, variables: { text: 'go' } }));
  const { body } = await upload(service, agent, jsonLines(lines), { key });
  const batch = await batchWhen(service, body.statusUrl, key);
  assert.equal(batch.counts.success, 1);
});

test('a repeated call with the same key returns the execution in its second turn, and does not call again', async () => {
  const sent = tools.requests.length;
  service.models.script(calling(['act', {}]));
  const second = service.models.hold();
  const call = () =>
    service.call('POST', `${agent.path}/execute`, {
      ...{ key, body: { variables: { text: 'go' } }, headers: { 'idempotency-key': 'once' } },
    });
  tools.script(toolResult('one'));
  const first = await call();
  await second.arrived;
  const { body: live } = await service.call('GET', first.body.statusUrl, { key });
  assert.deepEqual([live.status, live.turns, live.toolCallsMade], ['processing', 1, 1]);
  const again = await call();
  assert.deepEqual([again.status, again.body.executionId], [202, first.body.executionId]);
  second.release({ text: 'done' });
  assert.equal((await ended(service, first.body.statusUrl, key)).outputText, 'done');
  assert.equal(tools.requests.length - sent, 1);
});

test('a reader resumes in a later turn, and in the middle of one', async () => {
  const looping = await addToolAgent(service, [executedTool()], { config: { stream: true } });
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.models.script(
    async (_, emit) => {
      emit({ type: 'text', text: 'let me see' });
      await first.promise;
      return calling(['act', {}]);
    },
    async (_, emit) => {
      emit({ type: 'text', text: 'do' });
      await second.promise;
      return { text: 'ne' };
    },
  );
  const { body } = await service.call('POST', `${looping.path}/execute`, {
    ...{ key, body: { variables: { text: 'go' } } },
  });
  const openAfter = (id: string | null) =>
    openEvents(`${service.url}${body.statusUrl}/stream`, {
      ...{ key, headers: id === null ? {} : { 'last-event-id': id } },
    });
  const has =
    (turn: number, text: string) =>
    ({ event, data }: ReceivedEvent) =>
      event === 'text' && data.turn === turn && data.offset + data.text.length === text.length;
  const readTo = async (id: string | null, turn: number, text: string) => {
    const stream = await openAfter(id);
    const events = await stream.until(has(turn, text));
    stream.close();
    return { events, id: events.at(-1)?.id ?? null };
  };
  const inFirst = await readTo(null, 1, 'let me see');
  first.resolve();
  const inSecond = await readTo(inFirst.id, 2, 'do');
  assert.deepEqual(
    inSecond.events.map(({ event }) => event).filter((event) => event !== 'status'),
    ['restart', 'text'],
  );
  second.resolve();
  const { outputText } = await ended(service, body.statusUrl, key);
  assert.equal(outputText, 'done');
  for (const { id, text } of [
    { id: inFirst.id, text: 'let me see' },
    { id: inSecond.id, text: 'do' },
  ]) {
    const events = await (await openAfter(id)).until(() => false);
    assert.equal(textOfEvents(events, text), 'done', text);
    const texts = events.flatMap(({ event, data }) => (event === 'text' ? [data.text] : []));
    assert.equal(texts.join(''), text === 'do' ? 'ne' : 'done');
    assert.equal(events.at(-1)?.data.outputText, 'done');
  }
});

test('the limits of the loop are settings of the agent', async () => {
  const change = (settings: object) =>
    service.call('PATCH', agent.path, { key, body: { agentConfig: { tools: settings } } });
  assert.equal((await change({ maxTurns: 51 })).status, 400);
  assert.equal((await change({ onLimit: 'ask' })).status, 400);
  const { status, body } = await change({ maxTurns: 3, onError: 'stop' });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.agentConfig.tools, { maxTurns: 3, onError: 'stop' });
});
