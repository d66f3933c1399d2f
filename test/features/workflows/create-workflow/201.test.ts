import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';
import { toId } from '../../../../src/core/id.ts';

const service = await startService();
after(service.close);
const path = '/api/v1/workflows';
const agent = await addAgent(service);
const { key } = await service.key();

test('creates a workflow with version 1 pinned and all defaults', async () => {
  const body = { name: 'Greet', definition: greeting(agent.agentId) };
  const made = await service.call('POST', path, { key, body });
  assert.equal(made.status, 201);
  const { workflowId, workflowVersionId, createdAt, updatedAt, ...rest } = made.body;
  assert.deepEqual(rest, {
    ...{ name: 'Greet', slug: 'greet', description: null, enabled: true },
    ...{ workflowVersionLabel: 'v1', number: 1, stepCount: 1 },
    createdBy: toId('user', service.ownerId),
    definition: {
      input: { required: ['name'], optional: [], defaults: {} },
      timeoutMs: 3_600_000,
      steps: [
        {
          ...{ name: 'greet', agentId: agent.agentId, variables: { name: '{{input.name}}' } },
          ...{
            after: [],
            when: null,
            forEach: null,
            fallback: null,
            onFailure: 'fail',
            onUnreadable: 'fail',
          },
        },
      ],
      output: null,
    },
  });
  assert.equal(made.headers.get('location'), `${path}/${workflowId}`);
  assert.equal(made.headers.get('etag'), '"1"');
  const read = await service.call('GET', `${path}/${workflowId}`, { key });
  assert.deepEqual(read.body, made.body);
  const { pins } = (await service.call('GET', `${path}/${workflowId}/pins`, { key })).body;
  assert.deepEqual(
    pins.map((one: { workflowVersionId: string; pinnedBy: string }) => [
      one.workflowVersionId,
      one.pinnedBy,
    ]),
    [[workflowVersionId, toId('user', service.ownerId)]],
  );
  const audit = await service.call('GET', '/api/v1/audit?action=workflow.create', { key });
  assert.equal(audit.body.audit[0].subject, workflowId);
});

test('an editor’s session creates it; it may be disabled initially', async () => {
  const user = await service.member('editor');
  const body = { name: 'Off', enabled: false, definition: greeting(agent.agentId) };
  const made = await service.call('POST', path, { user, body });
  assert.deepEqual([made.status, made.body.enabled], [201, false]);
});

test('names keep their order in model calls, outputs and responses', async () => {
  const teller = await addAgent(service, { user: '{{text}}' });
  const text = { zeta: '{{input.z}}', b: 2, aaa: { y: 1, x: 2 } };
  const definition = {
    input: { defaults: { z: 1, a: { d: 1, c: 2 } } },
    steps: [{ name: 'tell', agentId: teller.agentId, variables: { text } }],
    output: { zeta: '{{steps.tell.output}}', b: '{{input}}', n: 3 },
  };
  const made = await service.call('POST', path, { key, body: { name: 'Ordered', definition } });
  const at = `${path}/${made.body.workflowId}`;
  const started = await service.call('POST', `${at}/execute`, { key, body: { input: {} } });
  const { body: run } = await service.call('GET', `${started.body.statusUrl}?wait=60`, { key });
  const rendered = '{"zeta":1,"b":2,"aaa":{"y":1,"x":2}}';
  assert.equal(service.models.calls.at(-1)?.user, rendered);
  const given = '{"z":1,"a":{"d":1,"c":2}}';
  assert.equal(
    JSON.stringify(run.output),
    `{"zeta":${JSON.stringify(rendered)},"b":${given},"n":3}`,
  );
  const version = `${at}/versions/${made.body.workflowVersionId}`;
  for (const url of [at, version]) {
    const { input, steps, output } = (await service.call('GET', url, { key })).body.definition;
    const kept = { input: { defaults: input.defaults }, variables: steps[0].variables, output };
    const { input: written } = definition;
    const sent = { input: written, variables: { text }, output: definition.output };
    assert.equal(JSON.stringify(kept), JSON.stringify(sent));
  }
});
