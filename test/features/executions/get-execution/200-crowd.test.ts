import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { addOpenRun, addWorkflow, step } from '../../../../harness/workflow-runs.ts';
import { toId } from '../../../../src/core/id.ts';

// No worker: executions continue until they are canceled.
const waits = 20;
const waitsOfWorkspace = 18;
const service = await startService({ role: 'api', shareLimits: { waits } });
after(service.close);
const agent = await addAgent(service);
const { key } = await service.key();

/** Opens more long polls than the share of a workspace; resolves once those beyond it have a response. */
async function crowd(statusUrl: string) {
  const first = Promise.withResolvers<void>();
  const atOnce: string[] = [];
  let ended = false;
  const more = 3;
  // Connects first: on a slow machine, connecting may take as long as a long poll.
  const connected = Array.from({ length: waitsOfWorkspace + more }, () =>
    service.call('GET', statusUrl, { key }),
  );
  await Promise.all(connected);
  const all = Promise.all(
    Array.from({ length: waitsOfWorkspace + more }, async () => {
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

test('beyond the share of a workspace, long polls return at once with any key, and other workspaces wait', async () => {
  const workflow = await addWorkflow(service, { steps: [step({ name: 'a', agent })] });
  const runId = toId('workflowRun', await addOpenRun(service.db, workflow));
  const { key: second } = await service.key();
  const stranger = await service.workspace();
  const issuer = { ...stranger, userId: stranger.ownerId };
  const { key: other } = await service.key(issuer);
  const foreign = await addAgent(service, { ...stranger, createdBy: stranger.ownerId });
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
      const { status, headers, body } = await service.call('GET', `${path}?wait=60`, {
        key: second,
      });
      assert.equal(status, 200);
      assert.equal(body.status, 'processing');
      assert.equal(headers.get('retry-after'), '1');
    }
    const body = { variables: { name: 'x' } };
    const theirs = await service.call('POST', `${foreign.path}/execute`, { key: other, body });
    const held = service.call('GET', `${theirs.body.statusUrl}?wait=60`, { key: other });
    assert.equal(await waiting.end(), waitsOfWorkspace);
    await service.call('POST', `${theirs.body.statusUrl}/cancel`, { key: other });
    assert.equal((await held).body.status, 'canceled');
  }
});
