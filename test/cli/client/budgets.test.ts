import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { type CommandResult, cueline, jsonLines } from '../cueline.ts';

/** `cueline budgets` as processes against the real service. */

const service = await startService();
after(service.close);
const { key } = await service.key();

function call(...args: string[]): Promise<CommandResult> {
  return cueline(['budgets', ...args], { CUELINE_URL: service.url, CUELINE_KEY: key });
}

test('puts a budget twice, lists and deletes it', async () => {
  const { agentId, id: _ } = await addAgent(service);
  const missing = await call('put', 'Users');
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /needs --limit, --per and --period/);
  const limit = ['--limit', '20.5', '--per', 'user', '--period', 'month'];
  const told = ['--threshold', '80', '--threshold', '50', '--max-tokens', '900'];
  const created = await call('put', 'Users', ...limit, ...told, '--agent', agentId, '--json');
  const [budget] = jsonLines(created);
  assert.deepEqual(
    [budget.limitUSD, budget.per, budget.thresholds, budget.maxTokens, budget.scope],
    [20.5, 'user', [50, 80], 900, { agentIds: [agentId] }],
  );
  assert.match(created.stderr, /^Agent: The agent has no "maxTokens"/m);
  // Only what is named changes.
  const [changed] = jsonLines(await call('put', 'Users', '--limit', '5', '--no-enabled', '--json'));
  const { updatedAt: __, ...expected } = { ...budget, limitUSD: 5, enabled: false };
  const { updatedAt: ___, ...rest } = changed;
  assert.deepEqual(rest, expected);
  assert.match((await call('list')).stdout, /Users +user +month +5 +false/);
  const removed = await call('delete', 'Users');
  assert.equal(removed.stdout.trim(), 'Deleted the budget Users.');
  assert.deepEqual(jsonLines(await call('list', '--json')), []);
  assert.equal((await call('delete', 'Users')).code, 1);
});

test('an amount that is none is refused before the call', async () => {
  const { code, stderr } = await call('put', 'Users', '--limit', '5e3');
  assert.equal(code, 1);
  assert.match(stderr, /Expected an amount/);
});
