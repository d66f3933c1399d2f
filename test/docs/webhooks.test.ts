import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../harness/created-workflows.ts';
import { startService } from '../../harness/service.ts';
import { runShell } from '../../harness/shell.ts';

/** Executes the webhook commands of docs/workflows.md. */

const text = readFileSync(join(import.meta.dirname, '../../docs/workflows.md'), 'utf8');
const [, section = ''] = text.split('### An inbound webhook by hand');
const [create = '', send = ''] = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
  ([, commands = '']) => commands,
);

const service = await startService();
after(service.close);
const { key } = await service.key();

async function shell(commands: string, env: Record<string, string>) {
  return JSON.parse(await runShell(commands, { CUELINE_URL: service.url, ...env }));
}

test('the documented commands create a webhook, and a signed event starts a workflow run', async () => {
  const agent = await addAgent(service);
  const { path } = await makeWorkflow(service, greeting(agent.agentId));
  const WORKFLOW = path.split('/').at(-1) ?? '';
  const webhook = await shell(create, { CUELINE_KEY: key, WORKFLOW });
  const event = send.replace(/'\{"ticket": .*\}'/, `'{"name": "Ada"}'`);
  const accepted = await shell(event, { WEBHOOK_PATH: webhook.path, SECRET: webhook.secret });
  const { body } = await service.call('GET', `${accepted.statusUrl}?wait=30`, { key });
  assert.deepEqual(
    [body.status, body.trigger, body.input],
    ['success', 'webhook', { name: 'Ada' }],
  );
});
