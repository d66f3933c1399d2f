import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import { greeting, makeWorkflow } from '../../../../harness/created-workflows.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ role: 'api' });
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);

test('the event loop is free between two schedules', async (t) => {
  const { path } = await makeWorkflow(service, greeting(agent.agentId));
  const zones = ['Europe/Berlin', 'Asia/Tokyo', 'America/New_York'];
  for (const timeZone of zones) {
    const body = { cron: '0 0 29 2 *', timeZone, input: { name: 'x' } };
    assert.equal((await service.call('POST', `${path}/schedules`, { key, body })).status, 201);
  }
  let turn = 0;
  let next = setImmediate(function passed() {
    turn++;
    next = setImmediate(passed);
  });
  t.after(() => clearImmediate(next));
  // The iterations of the event loop that computed the times of a zone.
  const turns = new Map(zones.map((zone) => [zone, new Set<number>()]));
  const read = Intl.DateTimeFormat.prototype.formatToParts;
  t.mock.method(
    Intl.DateTimeFormat.prototype,
    'formatToParts',
    function (this: Intl.DateTimeFormat, ...args: Parameters<typeof read>) {
      turns.get(this.resolvedOptions().timeZone)?.add(turn);
      return read.apply(this, args);
    },
  );
  const { body } = await service.call('GET', `${path}/schedules`, { key });
  assert.deepEqual(
    body.schedules.map((one: { timeZone: string }) => one.timeZone),
    zones.toReversed(),
  );
  const all = [...turns.values()].flatMap((some) => [...some]);
  assert.ok(all.length >= zones.length);
  assert.equal(new Set(all).size, all.length);
});
