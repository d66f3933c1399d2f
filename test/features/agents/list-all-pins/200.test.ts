import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeAgent, makePrompt } from '../../../../harness/prompts.ts';
import { startService } from '../../../../harness/service.ts';
import { fromId } from '../../../../src/core/id.ts';
import { sql } from '../../../../src/db/sql.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const prompt = await makePrompt(service, { user: 'a' }, { user: 'b', label: 'second' });
const shared = await makeAgent(service, prompt, { visibility: 'public', agentName: 'Shared' });
const hidden = await makeAgent(service, prompt, { agentName: 'Hidden' });
await service.call('PATCH', shared.path, {
  key,
  body: { promptVersionId: prompt.versionIds[1] },
});

interface Pin {
  readonly agentName: string;
  readonly promptVersionLabel: string;
}

async function pins(query = '', who: object = { key }) {
  const { status, body } = await service.call('GET', `/api/v1/pins${query}`, who);
  assert.equal(status, 200);
  return {
    ...body,
    shown: (body.pins as Pin[]).map((one) => `${one.agentName} ${one.promptVersionLabel}`),
  };
}

test('lists the pins of all visible agents, newest first, with the name of the agent', async () => {
  const { shown, pagination, pins: rows } = await pins();
  assert.deepEqual(shown, ['Shared second', 'Hidden v1', 'Shared v1']);
  assert.deepEqual(pagination, { limit: 20, offset: 0, total: 3, hasMore: false });
  const { body } = await service.call('GET', `${shared.path}/pins?limit=1`, { key });
  assert.deepEqual(rows[0], {
    ...body.pins[0],
    agentId: shared.agentId,
    agentName: 'Shared',
  });
  const user = await service.member('viewer');
  assert.deepEqual((await pins('', { user })).shown, ['Shared second', 'Shared v1']);
  assert.deepEqual((await pins('?limit=1&offset=1')).shown, ['Hidden v1']);
});

test('a range includes both of its ends', async () => {
  const at = '2026-03-04T10:00:00.000Z';
  await sql`
    update pins set pinned_at = ${at}::timestamptz + interval '400 microseconds'
    where agent_id = ${fromId('agent', hidden.agentId)}`.execute(service.db);
  assert.deepEqual((await pins(`?startDate=${at}&endDate=${at}`)).shown, ['Hidden v1']);
  assert.deepEqual((await pins('?startDate=2026-03-04&endDate=2026-03-04')).shown, ['Hidden v1']);
  assert.deepEqual((await pins('?endDate=2026-03-03')).shown, []);
  assert.equal((await pins('?startDate=2026-03-05')).pagination.total, 2);
});

test('pins of a deleted agent and of another workspace are not listed', async () => {
  const gone = await makeAgent(service, prompt, { agentName: 'Gone' });
  await sql`
    update agents set stage = 'Paused', api_enabled = false, deleted_at = clock_timestamp()
    where id = ${fromId('agent', gone.agentId)}`.execute(service.db);
  assert.equal((await pins()).pagination.total, 3);
  const { ownerId: user } = await service.workspace();
  assert.deepEqual((await pins('', { user })).shown, []);
});

test('pins of the playground are not listed, unless its agent has left Draft or is public', async () => {
  const { total } = (await pins()).pagination;
  const tags = ['playground'];
  await makeAgent(service, prompt, { agentName: 'Playground', tags });
  assert.equal((await pins()).pagination.total, total);
  const trial = await makeAgent(service, prompt, { agentName: 'Trial', tags });
  await makeAgent(service, prompt, { agentName: 'Open', tags, visibility: 'public' });
  const body = { action: 'enable-api' };
  await service.call('POST', `${trial.path}/lifecycle`, { key, body });
  assert.deepEqual((await pins('?limit=2')).shown, ['Open v1', 'Trial v1']);
});
