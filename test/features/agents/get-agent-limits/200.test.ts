import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { freezeWindows, frozenResetAt } from '../../../../harness/windows.ts';
import { sql } from '../../../../src/db/sql.ts';

const testingLimits = { requestsPerMinute: 10, requestsPerHour: 4, requestsPerDay: null };
const service = await startService({ config: { testingLimits } });
after(service.close);
const { key } = await service.key();

async function call(path: string, times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < times; i++) {
    const body = { variables: { name: 'you' } };
    statuses.push((await service.call('POST', `${path}/execute`, { key, body })).status);
  }
  return statuses;
}

async function usage(path: string) {
  const { status, body } = await service.call('GET', `${path}/limits`, { key });
  assert.equal(status, 200);
  return body.rateLimitUsage;
}

test('shows the usage of each limited window', async () => {
  const agent = await addAgent(service, {
    rateLimits: { requestsPerMinute: 3, requestsPerDay: 9 },
  });
  await freezeWindows(service.db, agent.id);
  assert.deepEqual(await call(agent.path, 4), [202, 202, 202, 429]);
  assert.deepEqual(await usage(agent.path), [
    {
      ...{ scope: 'agent', window: 'minute', limit: 3, used: 3, remaining: 0 },
      resetAt: frozenResetAt.minute,
    },
    {
      ...{ scope: 'agent', window: 'day', limit: 9, used: 3, remaining: 6 },
      resetAt: frozenResetAt.day,
    },
  ]);
});

test('in Testing, the lower of the agent’s and the stage’s limits applies', async () => {
  const agent = await addAgent(service, { stage: 'Testing', rateLimits: { requestsPerMinute: 2 } });
  await freezeWindows(service.db, agent.id);
  await call(agent.path, 1);
  const brief = (await usage(agent.path)).map(
    ({ scope, window, remaining }: Record<string, unknown>) => [scope, window, remaining],
  );
  assert.deepEqual(brief, [
    ['agent', 'minute', 1],
    ['stage', 'hour', 3],
  ]);
});

test('an expired window has no usage, and reading it counts nothing', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 5 } });
  await sql`update limits set day = 1, day_used = 5 where subject = ${agent.id}`.execute(
    service.db,
  );
  for (let i = 0; i < 2; i++) {
    assert.partialDeepStrictEqual(await usage(agent.path), [{ used: 0, remaining: 5 }]);
  }
});

test('a limit below its usage leaves zero', async () => {
  const agent = await addAgent(service, { rateLimits: { requestsPerDay: 5 } });
  await freezeWindows(service.db, agent.id);
  await call(agent.path, 3);
  await service.call('PATCH', agent.path, { key, body: { rateLimits: { requestsPerDay: 1 } } });
  assert.partialDeepStrictEqual(await usage(agent.path), [{ limit: 1, used: 3, remaining: 0 }]);
});

test('without limits the list is empty', async () => {
  assert.deepEqual(await usage((await addAgent(service)).path), []);
});
