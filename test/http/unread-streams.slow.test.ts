import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { addAgent, run } from '../../harness/agents.ts';
import { singleAgent } from '../../harness/openai-agents.ts';
import { startService } from '../../harness/service.ts';
import { readMetric, sendUnread, type UnreadRequest } from '../../harness/unread-client.ts';
import { addWorkflow, endOfRun, startRun, step } from '../../harness/workflow-runs.ts';
import { toId } from '../../src/core/id.ts';

/** Clients that do not read their streams. A record has more than the buffers of a connection take. */

const streamBytes = 48 * 2 ** 20;
const chars = 6_000_000;
const clients = 3;
/** Of the records, at two bytes for each character, in the share of one workspace. */
const roomFor = 2;

// Nobody is disconnected, however slow the machine is.
const serverLimits = { readWindowMs: 3_600_000 };
const service = await startService({ config: { streamBytes }, serverLimits });
after(service.close);
const { key } = await service.key();
const authorization = `Bearer ${key}`;
const long = 'x'.repeat(chars);
const agent = await addAgent(service, { config: { stream: true } });
await singleAgent(service, { agentName: 'One' });

const used = () => readMetric(service.url, 'cueline_stream_bytes_held');
const paused = () => readMetric(service.url, 'cueline_streams_paused');

/** Waits until a metric has a value, and checks at each look that no more bytes are held than allowed. */
async function until(metric: () => Promise<number>, value: number): Promise<void> {
  while ((await metric()) !== value) {
    assert.ok((await used()) <= streamBytes);
    await delay(20);
  }
}

/** How much of the long text has arrived. A response that was cut has no last chunk. */
function countText(raw: string): number {
  assert.ok(raw.endsWith('\r\n0\r\n\r\n'), raw.slice(-200));
  let count = 0;
  for (let at = raw.indexOf('x'); at >= 0; at = raw.indexOf('x', at + 1)) count++;
  return count;
}

async function executed(): Promise<string> {
  service.models.script({ text: long });
  return (await run(service, agent, key)).executionId;
}

/** Requests of that number of clients, each for a record of its own. */
type Requests = () => Promise<UnreadRequest[]>;

const times = <T>(make: (at: number) => Promise<T>) =>
  Array.from({ length: clients }, (_, at) => at).reduce<Promise<T[]>>(
    async (before, at) => [...(await before), await make(at)],
    Promise.resolve([]),
  );
const scripted = (request: UnreadRequest) => async () => {
  for (let n = 0; n < clients; n++) service.models.script({ text: long });
  return Array.from({ length: clients }, () => request);
};
const openai = (path: string, body: object) =>
  scripted({
    ...{ method: 'POST', path, headers: { authorization } },
    body: { model: 'one', stream: true, ...body },
  });
/** With the number of long texts in each response. */
const kinds: Readonly<Record<string, { readonly requests: Requests; readonly texts: number }>> = {
  'of an execution that has ended': {
    requests: () =>
      times(async () => {
        const path = `${agent.path}/executions/${await executed()}/stream`;
        return { path, headers: { authorization } };
      }),
    texts: 3,
  },
  'of an execution from its start': {
    requests: scripted({
      ...{ method: 'POST', path: `${agent.path}/execute` },
      headers: { authorization, accept: 'text/event-stream' },
      body: { variables: { name: 'you' } },
    }),
    texts: 3,
  },
  'of a stored response': {
    requests: () =>
      times(async () => {
        const path = `/v1/responses/${await executed()}?stream=true`;
        return { path, headers: { authorization } };
      }),
    texts: 5,
  },
  'of a new response': {
    requests: openai('/v1/responses', { input: 'Hi' }),
    texts: 5,
  },
  'of a chat completion': {
    requests: openai('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }),
    texts: 1,
  },
  'of a workflow run': {
    requests: () =>
      times(async () => {
        service.models.script({ text: long });
        const workflow = await addWorkflow(service, {
          steps: [step({ name: 'one', agent, variables: { name: 'you' } })],
        });
        const runId = await startRun(service, workflow, key, {});
        await endOfRun(service, workflow, runId);
        const path = `/api/v1/workflows/${workflow.workflowId}/runs/${toId('workflowRun', runId)}/stream?step=one`;
        return { path, headers: { authorization } };
      }),
    // The run has failed, because an output of a step may not be so long.
    texts: 1,
  },
};

test('readers of another workspace wait for none of these', async () => {
  const { workspaceId, ownerId: userId } = await service.workspace();
  const other = await service.key({ workspaceId, userId });
  const theirs = await addAgent(service, { workspaceId, createdBy: userId });
  const requests = await kinds['of an execution that has ended']?.requests();
  const unread = await Promise.all((requests ?? []).map((one) => sendUnread(service.url, one)));
  await until(paused, clients - roomFor);
  service.models.script({ text: long });
  const { executionId } = await run(service, theirs, other.key);
  const path = `${theirs.path}/executions/${executionId}/stream`;
  const headers = { authorization: `Bearer ${other.key}` };
  const stream = await sendUnread(service.url, { path, headers });
  assert.ok(countText(await stream.readAll()) >= 3 * chars);
  assert.equal(await paused(), clients - roomFor);
  for (const client of unread) client.close();
  await until(used, 0);
});

for (const [name, { requests, texts }] of Object.entries(kinds)) {
  test(`streams ${name} hold their share of the bytes, and all of it arrives once they are read`, async () => {
    const all = await requests();
    const unread = await Promise.all(all.map((each) => sendUnread(service.url, each)));
    await until(paused, clients - roomFor);
    assert.ok((await used()) > roomFor * chars);
    const received = await Promise.all(unread.map(async (one) => countText(await one.readAll())));
    for (const count of received) assert.ok(count >= texts * chars, `${count} characters`);
    await until(used, 0);
  });
}
