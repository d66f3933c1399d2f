import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended, run } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { openUnsealed } from '../../../../harness/setups.ts';
import { collectResponse } from '../../../../src/core/model/model-events.ts';
import {
  type ModelCall,
  ModelFailure,
  type ModelPort,
} from '../../../../src/core/model/model-port.ts';
import { sql } from '../../../../src/db/sql.ts';
import { createModels } from '../../../../src/models/registry.ts';

/** A record keeps the price that it was charged with, and says which one. */

const real = createModels({ open: openUnsealed, env: {}, allowedHosts: [] });
/** What happens in the next calls. */
const steps: ((call: ModelCall) => Promise<void>)[] = [];
const models: ModelPort = {
  async call(call, emit) {
    await steps.shift()?.(call);
    await real.call(call, emit);
  },
};
const service = await startService({ models });
after(async () => {
  await service.close();
  await real.close();
});
const { key } = await service.key();
const model = 'cueline/echo?tokens=10';
const agentOf = (maxAttempts = 3) => addAgent(service, { model, config: { maxAttempts } });

const put = async (outputPerMillion: string) => {
  const body = { model: 'cueline/echo', inputPerMillion: '0', outputPerMillion };
  const { body: price } = await service.call('PUT', '/api/v1/prices', {
    user: service.ownerId,
    body,
  });
  return price;
};
const chargedWith = ({ model: _, updatedAt: __, ...price }: Record<string, unknown>) => price;
const shown = ({ costUSD, costSource, price }: Record<string, unknown>) => [
  ...[costUSD, costSource, price],
];

/** Fails once the model has charged for the call. */
async function failCharged(call: ModelCall): Promise<never> {
  const { usage, cost } = await collectResponse(real, call);
  throw new ModelFailure('EMPTY_OUTPUT', 'Nothing.', { usage, cost });
}

test('after a change, later executions are charged the new price, and earlier records keep theirs', async () => {
  const agent = await agentOf();
  const first = await put('100');
  const earlier = await run(service, agent, key);
  const second = await put('200.50');
  const later = await run(service, agent, key);
  assert.deepEqual(shown(later), [0.002_005, 'workspace', chargedWith(second)]);
  const path = `${agent.path}/executions/${earlier.executionId}`;
  const { body } = await service.call('GET', path, { key });
  assert.deepEqual(shown(body), [0.001, 'workspace', chargedWith(first)]);
});

test('an execution that runs during a change says what it was charged with', async () => {
  const agent = await agentOf();
  const first = await put('100');
  steps.push(async () => void (await put('300')));
  assert.deepEqual(shown(await run(service, agent, key)), [0.001, 'workspace', chargedWith(first)]);
});

test('of several attempts, the last one that was charged names the price', async () => {
  await put('100');
  let second: Record<string, unknown> = {};
  steps.push(async (call) => {
    second = await put('200');
    await failCharged(call);
  });
  const retried = await run(service, await agentOf(), key);
  assert.deepEqual(shown(retried), [0.003, 'workspace', chargedWith(second)]);

  steps.push(
    async (call) => {
      await put('400');
      await failCharged(call);
    },
    async () => {
      throw new ModelFailure('PROVIDER_AUTH', 'No.');
    },
  );
  const failed = await run(service, await agentOf(), key);
  assert.deepEqual(shown(failed), [0.002, 'workspace', chargedWith(second)]);
});

test('setting the same amounts again is no other price', async () => {
  const kept = async () => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from price_history`.execute(
      service.db,
    );
    return rows[0]?.n ?? 0;
  };
  const first = await put('1.5');
  const before = await kept();
  assert.equal((await put('1.5')).validFrom, first.validFrom);
  assert.equal(await kept(), before);
  await put('1.6');
  assert.equal(await kept(), before + 1);
});

test('a price is kept as well if a process of an earlier version changes it, and after its deletion', async () => {
  const agent = await agentOf();
  const first = await put('100');
  const record = await run(service, agent, key);
  await sql`
    insert into prices (workspace_id, model, input_per_million, output_per_million)
    values (${service.workspaceId}, 'cueline/echo', 0, 500)
    on conflict (workspace_id, model) do update set output_per_million = excluded.output_per_million,
      updated_at = clock_timestamp()`.execute(service.db);
  const { price, costUSD } = await run(service, agent, key);
  assert.deepEqual([price.outputPerMillion, costUSD], ['500', 0.005]);
  const query = '/api/v1/prices?model=cueline%2Fecho';
  await service.call('DELETE', query, { user: service.ownerId });
  const path = `${agent.path}/executions/${record.executionId}`;
  assert.deepEqual((await service.call('GET', path, { key })).body.price, chargedWith(first));
  const free = await run(service, agent, key);
  assert.deepEqual([free.costSource, free.price], ['table', undefined]);
});

test('a caller that sees no costs sees no price', async () => {
  await put('100');
  const agent = await agentOf();
  const { key: page } = await service.key({
    ...{ permissions: ['execute'], allowedOrigins: ['https://example.com'] },
  });
  const { body } = await service.call('POST', `${agent.path}/execute`, {
    key: page,
    body: { variables: { name: 'x' } },
  });
  const { costUSD, price } = await ended(service, body.statusUrl, page);
  assert.deepEqual([costUSD, price], [undefined, undefined]);
});
