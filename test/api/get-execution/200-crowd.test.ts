import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { addOpenRun, addWorkflow, step } from '../../../harness/workflow-runs.ts';
import { waitsOfCallerMax } from '../../../src/contract/limits.ts';
import { toId } from '../../../src/core/id.ts';

// No worker: executions continue until they are canceled.
const service = await startService({ role: 'api' });
after(service.close);
const agent = await addAgent(service);
const { key } = await service.key();

/** Opens more long polls than the limit of a key; resolves once those above the limit have a response. */
async function crowd(statusUrl: string) {
  const first = Promise.withResolvers<void>();
  const atOnce: string[] = [];
  let ended = false;
  const more = 3;
  // Connects first: on a slow machine, connecting may take as long as a long poll.
  const connected = Array.from({ length: waitsOfCallerMax + more }, () =>
    service.call('GET', statusUrl, { key }),
  );
  await Promise.all(connected);
  const all = Promise.all(
    Array.from({ length: waitsOfCallerMax + more }, async () => {
      const { body } = await service.call('GET', `${statusUrl}?wait=60`, { key });
      if (!ended && atOnce.push(body.status) === more) first.resolve();
      return String(body.status);
    }),
  );
  await first.promise;
  assert.deepEqual(atOnce, Array(more).fill('processing'));
  return {
    async end() {
      ended = true;
      await service.call('POST', `${statusUrl}/cancel`, { key });
      return (await all).filter((status) => status === 'canceled').length;
    },
  };
}

test('above the limit of a key, long polls return at once, and other keys are not affected', async () => {
  const workflow = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });
  const runId = toId('workflowRun', await addOpenRun(service.db, workflow));
  const { key: other } = await service.key();
  // Twice, because ended long polls free their slots.
  for (let round = 0; round < 2; round++) {
    const accepted = await service.call('POST', `${agent.path}/execute`, {
      key,
      body: { variables: { name: 'x' } },
    });
    const { statusUrl } = accepted.body;
    const waiting = await crowd(statusUrl);
    const ofWorkflow = `/api/v1/workflows/${workflow.workflowId}/runs/${runId}`;
    for (const path of [statusUrl, ofWorkflow]) {
      const { status, headers, body } = await service.call('GET', `${path}?wait=60`, { key });
      assert.equal(status, 200);
      assert.equal(body.status, 'processing');
      assert.equal(headers.get('retry-after'), '1');
    }
    const held = service.call('GET', `${statusUrl}?wait=60`, { key: other });
    assert.equal(await waiting.end(), waitsOfCallerMax);
    assert.equal((await held).body.status, 'canceled');
  }
});
