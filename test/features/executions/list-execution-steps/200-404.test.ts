import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import {
  addToolAgent,
  calling,
  executedTool,
  scriptedTools,
} from '../../../../harness/tool-agents.ts';

const service = await startService({ tools: scriptedTools() });
after(service.close);
const { key: reader } = await service.key();
const agent = await addToolAgent(service, [executedTool()]);

/** The steps of an execution of the key, as it sees them and as a reader does. */
async function stepsFor(key: string) {
  service.models.script({ ...calling(['act', { a: 1 }]), text: 'let me see' }, { text: 'done' });
  const { body: accepted } = await service.call('POST', `${agent.path}/execute`, {
    ...{ key, body: { variables: { text: 'go' } } },
  });
  await ended(service, accepted.statusUrl, key);
  const path = `${accepted.statusUrl}/steps`;
  const [own, whole] = [
    await service.call('GET', path, { key }),
    await service.call('GET', path, { key: reader }),
  ];
  assert.deepEqual([own.status, whole.status], [200, 200]);
  return { path, own: own.body.steps, whole: whole.body.steps };
}

const without = (steps: readonly object[], names: readonly string[]) =>
  steps.map((step) => Object.fromEntries(Object.entries(step).filter(([n]) => !names.includes(n))));

/** A model may write anything as the name of a tool. */
const contents = ['text', 'name', 'toolServerId', 'arguments', 'usedArguments', 'result'];

test('a reader sees what the model wrote, and what its tools were sent and answered', async () => {
  const { own } = await stepsFor(reader);
  const [turn, call] = own;
  assert.equal(turn.text, 'let me see');
  assert.deepEqual([call.arguments, call.usedArguments, call.result], [{ a: 1 }, { a: 1 }, 'ok']);
});

test('a key without read sees the steps of its executions without their contents', async () => {
  const { key } = await service.key({ permissions: ['execute'] });
  const { own, whole } = await stepsFor(key);
  assert.deepEqual(own, without(whole, contents));
  const [turn, call] = own;
  assert.deepEqual(['costUSD' in (turn ?? {}), call?.sent], [true, 1]);
});

test('one for browsers does not see their cost either', async () => {
  const allowedOrigins = ['https://a.example'];
  const { key } = await service.key({ permissions: ['execute'], allowedOrigins });
  const { own, whole } = await stepsFor(key);
  assert.deepEqual(own, without(whole, [...contents, 'costUSD', 'costKnown']));
});

test('the executions of other keys do not exist for it', async () => {
  const { path } = await stepsFor(reader);
  const { key } = await service.key({ permissions: ['execute'] });
  const other = await service.call('GET', path, { key });
  assert.deepEqual([other.status, other.body.code], [404, 'NOT_FOUND']);
});
