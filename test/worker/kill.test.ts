import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { addAgent, ended } from '../harness/agents.ts';
import { type CuelineProcess, spawnCueline } from '../harness/process.ts';
import { startService } from '../harness/service.ts';

/** Real processes, killed with -9, stopped and told to end, while runs are under way. */

/** The service in this process only reads: its own worker must not take part. */
const service = await startService({ role: 'api' });
after(service.close);
const { key } = await service.key({
  rateLimits: { requestsPerMinute: null, requestsPerHour: null },
});
const connection = service.database.connection;
const slow = await addAgent(service, { model: 'cueline/echo?delay=300' });

async function processes(...roles: ('api' | 'worker')[]): Promise<CuelineProcess[]> {
  const all = await Promise.all(roles.map((role) => spawnCueline(role, connection)));
  after(() => Promise.all(all.map((one) => one.kill('SIGKILL'))));
  return all;
}

async function executeAt(url: string, name: string): Promise<string> {
  const response = await fetch(`${url}${slow.path}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ variables: { name } }),
  });
  assert.equal(response.status, 202);
  return ((await response.json()) as { statusUrl: string }).statusUrl;
}

test('of accepted runs none is lost and none is recorded twice, however often workers are killed', async () => {
  const [api, ...workers] = await processes('api', 'worker', 'worker');
  const urls: string[] = [];
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 20; i++) urls.push(await executeAt(api?.url ?? '', `${round}-${i}`));
    const victim = workers.shift();
    await victim?.kill('SIGKILL');
    workers.push(...(await processes('worker')));
  }
  const records = await Promise.all(urls.map((url) => ended(service, url, key)));
  assert.deepEqual([...new Set(records.map(({ status }) => status))], ['success']);
  const { rows } = await sql<Record<string, number>>`
    select (select count(*) from executions where agent_id = ${slow.id}) as records,
      (select sum(happened)::int from statistics where agent_id = ${slow.id} and level = 'day') as happened,
      (select count(*) from run_queue) as queued`.execute(service.db);
  assert.deepEqual(rows[0], { records: 100, happened: 100, queued: 0 });
});

test('a process stopped beyond its lease and resumed writes over nothing', async () => {
  const [api, zombie] = await processes('api', 'worker');
  const statusUrl = await executeAt(api?.url ?? '', 'zombie');
  for (;;) {
    const { rows } = await sql`select from run_queue where worker is not null`.execute(service.db);
    if (rows.length > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  zombie?.child.kill('SIGSTOP');
  await processes('worker');
  const record = await ended(service, statusUrl, key);
  assert.equal(record.attempts, 2);
  zombie?.child.kill('SIGCONT');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.deepEqual((await service.call('GET', statusUrl, { key })).body, record);
});

test('an API killed in the middle leaves a record for every 202', async () => {
  const [api] = await processes('api', 'worker');
  const answers = Array.from({ length: 200 }, (_, i) =>
    executeAt(api?.url ?? '', `api-${i}`).catch(() => null),
  );
  await Promise.race(answers);
  await api?.kill('SIGKILL');
  const accepted = (await Promise.all(answers)).filter((url) => url !== null);
  assert.ok(accepted.length > 0);
  for (const url of accepted) assert.equal((await ended(service, url, key)).status, 'success');
});

test('a worker told to end hands its runs on without charging them', async () => {
  const [api, leaving] = await processes('api', 'worker');
  const urls = await Promise.all(
    Array.from({ length: 10 }, (_, i) => executeAt(api?.url ?? '', `drain-${i}`)),
  );
  await processes('worker');
  await leaving?.kill('SIGTERM');
  assert.equal(leaving?.child.exitCode, 0);
  for (const url of urls) assert.equal((await ended(service, url, key)).status, 'success');
});
