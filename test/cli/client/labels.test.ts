import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { cueline, jsonLines } from '../cueline.ts';

/** Whom an execution is for, on the command line. */

const service = await startService();
after(service.close);
const agent = await addAgent(service, { user: 'Hello' });
const env = { CUELINE_URL: service.url, CUELINE_KEY: (await service.key()).key };

test('exec sends them; history, statistics and erase go by them', async () => {
  const given = ['--user', 'Ada', '--session', 's', '--tag', 'a,b', '--tag', 'c'];
  given.push('--metadata', 'plan=pro=1', '--wait', '--json');
  const sent = await cueline(['exec', agent.agentId, ...given], env);
  const record = JSON.parse(sent.stdout);
  assert.deepEqual(
    [record.user, record.session, record.tags, record.metadata],
    ['Ada', 's', ['a,b', 'c'], { plan: 'pro=1' }],
  );
  await cueline(['exec', agent.agentId, '--wait'], env);
  for (const filter of [
    ['--user', 'Ada'],
    ['--session', 's'],
    ['--tag', 'c'],
    ['--metadata', 'plan=pro=1'],
  ]) {
    const listed = await cueline(['history', ...filter, '--json'], env);
    const ids = jsonLines(listed).map((one) => one.executionId);
    assert.deepEqual(ids, [record.executionId], filter.join(' '));
  }
  const counted = await cueline(['statistics', '--group-by', 'user', '--level', 'all'], env);
  assert.match(counted.stdout, /Ada +1/);
  const erased = await cueline(['erase', '--user', 'Ada', '--json'], env);
  assert.equal(JSON.parse(erased.stdout).variable, null);
});
