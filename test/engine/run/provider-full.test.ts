import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, type TestAgent } from '../../../harness/agents.ts';
import { startFakeProvider } from '../../../harness/fake-provider.ts';
import { startService } from '../../../harness/service.ts';
import { openUnsealed } from '../../../harness/setups.ts';
import { sql } from '../../../src/db/sql.ts';
import { createModels } from '../../../src/models/registry.ts';

const provider = await startFakeProvider();
const models = createModels({
  open: openUnsealed,
  env: { OLLAMA_BASE_URL: provider.url },
  allowedHosts: [],
  callsMax: 1,
});
const service = await startService({ models });
after(async () => {
  await service.close();
  await models.close();
  await provider.close();
});

test('waiting for a provider at its concurrency limit never times out', async () => {
  const { key } = await service.key();
  const execute = async ({ path }: TestAgent): Promise<string> => {
    const body = { variables: { name: 'x' } };
    return (await service.call('POST', `${path}/execute`, { key, body })).body.statusUrl;
  };
  const holding = await execute(await addAgent(service, { model: 'ollama/hang' }));
  await provider.arrived(1);
  const agent = await addAgent(service, { model: 'ollama/any', config: { maxAttempts: 1 } });
  const waiting = await execute(agent);
  for (let sentBack = 0; sentBack < 1; ) {
    // Moves the start of work back by an hour.
    const { rowCount } = await sql`
      update execution_queue set started_at = started_at - interval '1 hour', available_at = clock_timestamp()
      where agent_id = ${agent.id} and worker is null and available_at is not null`.execute(
      service.db,
    );
    sentBack += rowCount;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await service.call('POST', `${holding}/cancel`, { key });
  const record = await ended(service, waiting, key);
  assert.equal(record.status, 'success');
  assert.equal(record.attempts, 1);
  assert.equal(provider.calls.length, 2);
});
