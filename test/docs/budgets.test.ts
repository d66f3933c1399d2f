import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { addPrice } from '../../harness/budgets.ts';
import { startService } from '../../harness/service.ts';
import { runShell } from '../../harness/shell.ts';
import { readYaml } from '../../src/cli/client/yaml.ts';

/** Runs the commands of docs/budgets.md. */

const text = readFileSync(join(import.meta.dirname, '../../docs/budgets.md'), 'utf8');
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );
const [create = '', fullest = ''] = blocks('sh');

const service = await startService();
after(service.close);
const { key } = await service.key();
const model = 'cueline/echo';
await addPrice(service, { model, perToken: 0.001 });

function printed(commands: string, env: Record<string, string> = {}) {
  return runShell(commands, { CUELINE_URL: service.url, CUELINE_KEY: key, ...env });
}

test('a budget for each user of an agent is created, and shows its windows', async () => {
  const { agentId, path } = await addAgent(service, { model, config: { maxTokens: 10 } });
  const budget = JSON.parse(await printed(create, { AGENT: agentId }));
  assert.deepEqual(
    [budget.scope, budget.per, budget.period, budget.limitUSD, budget.warnings],
    [{ agentIds: [agentId] }, 'user', 'month', 20, []],
  );
  const variables = { name: 'Ann' };
  const call = await service.call('POST', `${path}/execute`, {
    ...{ key, body: { variables, user: 'ann' } },
  });
  assert.equal(call.status, 202);
  const { windows } = JSON.parse(await printed(fullest));
  const [window] = windows;
  assert.deepEqual([window.bucket, window.limitUSD], ['ann', 20]);
});

test('the budget as code is the same one', async () => {
  const { body: agents } = await service.call('GET', '/api/v1/agents', { key });
  const rename = { key, body: { agentName: 'Explainer' } };
  await service.call('PATCH', `/api/v1/agents/${agents.agents[0].agentId}`, rename);
  const declaration = readYaml(blocks('yaml')[0] ?? '', 'cueline.yaml').value;
  const body = { declaration, dryRun: true };
  const { body: planned } = await service.call('POST', '/api/v1/declaration', { key, body });
  assert.deepEqual(
    planned.changes.map(({ kind, field }: Record<string, string>) => [kind, field]),
    [['budget', 'thresholds']],
  );
});
