import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../harness/service.ts';
import { createClient } from '../src/client/index.ts';

/** The end-to-end path of a team from an empty workspace to a history, over HTTP and with the client. */

const service = await startService();
after(service.close);

test('a team deploys an agent and changes its prompt without changing its callers', async () => {
  const { key: admin } = await service.key();
  const team = createClient({ baseURL: service.url, key: admin });

  const prompt = await team.prompts.create({ name: 'Support reply' });
  const first = await team.versions.create(prompt.promptId, {
    system: 'You are {{tone}}.',
    user: 'Reply to: {{message}}',
    model: 'cueline/echo',
  });
  assert.deepEqual(first.variables, ['tone', 'message']);
  assert.equal(first.promptVersionLabel, 'v1');

  const agent = await team.agents.create({
    agentName: 'Replier',
    promptId: prompt.promptId,
    promptVersionId: first.promptVersionId,
    defaultVariableValues: { tone: 'kind' },
    visibility: 'public',
  });
  assert.equal(agent.status, 'Draft');
  assert.deepEqual(agent.requiredVariables, ['message']);
  await team.agents.move(agent.agentId, 'enable-api');
  await team.agents.move(agent.agentId, 'deploy');

  const { key } = await team.keys.create({
    name: 'Shop',
    agentIds: [agent.agentId],
    permissions: ['execute', 'read'],
  });
  const shop = createClient({ baseURL: service.url, key });
  const before = await shop.executeAndWait(agent.agentId, { message: 'Where is my order?' });
  assert.equal(before.status, 'success');
  assert.equal(before.output, 'Reply to: Where is my order?');
  assert.equal(before.systemPrompt, 'You are kind.');

  const second = await team.versions.create(prompt.promptId, {
    label: 'shorter',
    system: 'You are {{tone}}, in one line.',
    user: '{{message}}',
    model: 'cueline/echo',
  });
  await team.agents.update(agent.agentId, { promptVersionId: second.promptVersionId });
  const changed = await shop.executeAndWait(agent.agentId, { message: 'And now?' });
  assert.equal(changed.output, 'And now?');
  assert.equal(changed.promptVersionLabel, 'shorter');

  await team.agents.update(agent.agentId, { promptVersionId: first.promptVersionId });
  const back = await shop.executeAndWait(agent.agentId, { message: 'Back?' });
  assert.equal(back.output, 'Reply to: Back?');

  await team.agents.move(agent.agentId, 'disable');
  await assert.rejects(shop.execute(agent.agentId, { message: 'Anyone?' }), {
    code: 'AGENT_NOT_ACTIVE',
  });

  const history = [];
  for await (const one of shop.listAll(agent.agentId, { limit: 2 })) history.push(one);
  assert.deepEqual(
    history.map(({ status, promptVersionLabel }) => [status, promptVersionLabel]),
    [
      ['unauthorized', 'v1'],
      ['success', 'v1'],
      ['success', 'shorter'],
      ['success', 'v1'],
    ],
  );
  const usage = await team.usage();
  assert.equal(usage.actionsUsed, 3);
});
