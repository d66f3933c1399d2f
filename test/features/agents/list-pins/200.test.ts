import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId, toId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const prompt = await makePrompt(service, { user: 'a' }, { user: 'b', label: 'second' });

type Pin = { number: number; pinnedAt: string };

async function pinned(path: string, query = ''): Promise<Pin[]> {
  return (await service.call('GET', `${path}/pins${query}`, { key })).body.pins;
}

test('lists every pin with its author, newest first; a version pinned twice is listed twice', async () => {
  const agent = await makeAgent(service, prompt, { visibility: 'public' });
  const user = await service.member('editor');
  for (const version of [1, 0]) {
    const body = { promptVersionId: prompt.versionIds[version] };
    await service.call('PATCH', agent.path, { user, body });
  }
  const { body } = await service.call('GET', `${agent.path}/pins`, { key });
  const shown = body.pins.map(({ pinId, pinnedAt, ...rest }: Record<string, unknown>) => rest);
  const by = (pinnedBy: string) => ({ pinnedBy: toId('user', pinnedBy) });
  const first = { promptVersionId: prompt.versionIds[0], promptVersionLabel: 'v1', number: 1 };
  const second = { promptVersionId: prompt.versionIds[1], promptVersionLabel: 'second', number: 2 };
  assert.deepEqual(shown, [
    { ...first, ...by(user) },
    { ...second, ...by(user) },
    { ...first, ...by(service.ownerId) },
  ]);
  assert.deepEqual(body.pagination, { limit: 20, offset: 0, total: 3, hasMore: false });
  assert.deepEqual(await pinned(agent.path, '?limit=1&offset=1'), [body.pins[1]]);
});

test('concurrent pins are all recorded, and the first in the list is in force', async () => {
  const agent = await makeAgent(service, prompt);
  await Promise.all(
    [1, 0, 1, 0, 1, 0].map((version) => {
      const body = { promptVersionId: prompt.versionIds[version] };
      return service.call('PATCH', agent.path, { key, body });
    }),
  );
  const pins = await pinned(agent.path);
  const { promptVersionLabel } = (await service.call('GET', agent.path, { key })).body;
  assert.equal(pins[0]?.number, promptVersionLabel === 'v1' ? 1 : 2);
  // Each differs from the previous one, because pinning the pinned version records nothing.
  for (const [at, { number }] of pins.entries()) assert.notEqual(number, pins[at + 1]?.number);
});

test('the first in the list is in force even if the clock went back', async () => {
  const agent = await makeAgent(service, prompt);
  const ahead = toId('pin', '7fffffff-0000-7000-8000-000000000000');
  await sql`
    update pins set id = ${fromId('pin', ahead)}
    where agent_id = ${fromId('agent', agent.agentId)}`.execute(service.db);
  const body = { promptVersionId: prompt.versionIds[1] };
  await service.call('PATCH', agent.path, { key, body });
  assert.deepEqual(
    (await pinned(agent.path)).map(({ number }) => number),
    [2, 1],
  );
});
