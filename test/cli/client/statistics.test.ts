import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addAgent, type TestAgent } from '../../../harness/agents.ts';
import { type Service, startService } from '../../../harness/service.ts';
import { insertStatistics, tally } from '../../../harness/statistics.ts';
import { type CommandResult, cueline, jsonLines } from '../cueline.ts';

/** `cueline statistics` as a process against the real service. */

let service: Service;
let key: string;
let agent: TestAgent;

before(async () => {
  service = await startService();
  agent = await addAgent(service);
  key = (await service.key({ permissions: ['read'] })).key;
  const one = { agentId: agent.id, executedAtMs: Date.parse('2026-03-04T20:00:00Z') };
  await insertStatistics(service.db, [
    tally({ ...one, costUsd: '0.25' }),
    tally({ ...one, costUsd: '0.25' }),
    tally({
      ...one,
      status: 'failed',
      errorCode: 'MODEL_TIMEOUT',
      costKnown: false,
      latencyMs: null,
    }),
  ]);
});
after(() => service.close());

function call(args: readonly string[]): Promise<CommandResult> {
  return cueline(['statistics', ...args], { CUELINE_URL: service.url, CUELINE_KEY: key });
}

const days = ['--start-date', '2026-03-04', '--end-date', '2026-03-05'];

test("prints an agent's figures as a table and all fields as JSON", async () => {
  const table = await call([agent.agentId, ...days, '--group-by', 'status,errorCode']);
  assert.equal(
    table.stdout.replaceAll(/ +/g, ' '),
    [
      'start status errorCode count successRate inputTokens outputTokens costUSD costUnknown p50 p95 p99',
      '2026-03-04T00:00:00.000Z failed MODEL_TIMEOUT 1 0 10 20 0 1 - - -',
      '2026-03-04T00:00:00.000Z success - 2 1 20 40 0.5 0 99 99 99\n',
    ].join('\n'),
  );
  const [bucket, ...more] = jsonLines(
    await call([agent.agentId, ...days, '--group-by', 'none', '--json']),
  );
  assert.deepEqual(more, []);
  assert.deepEqual([bucket.count, bucket.successRate], [3, 2 / 3]);
});

test('covers all agents by days of a time zone', async () => {
  const zone = ['--time-zone', 'Asia/Kathmandu', '--group-by', 'agent'];
  const [bucket] = jsonLines(await call([...days, ...zone, '--json']));
  assert.deepEqual(
    [bucket.agentId, bucket.start, bucket.count],
    [agent.agentId, '2026-03-04T18:15:00.000Z', 3],
  );
  const { stdout } = await call([...days, ...zone]);
  assert.match(stdout, new RegExp(`^start .*\\n2026-03-04T18:15:00.000Z +${agent.agentId} +3 `));
});

test('an invalid query prints one line', async () => {
  const wrong = await call(['--time-zone', 'Mars']);
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.stderr,
    /^cueline: Parameter "timeZone" must be an IANA time zone, .*req_\w+\)\n$/,
  );
});
