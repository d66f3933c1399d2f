import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type CuelineProcess, spawnCueline } from '../../harness/process.ts';
import { allEnded, restoreState, sourcesOf, stateKey } from '../../harness/states.ts';
import { openDatabase } from '../../src/db/database.ts';
import { sql } from '../../src/db/sql.ts';

const state = '0793ab16';
const sources = await sourcesOf(state);
const skip = sources === null && `the history of the repository, with ${state}, is missing`;

test('a process of 0793ab16 goes on beside the one that upgrades its database under load', {
  skip,
}, async (t) => {
  t.after(() => sources?.remove());
  const { connection, drop } = await restoreState(state);
  const db = openDatabase({ connection, poolMax: 2, onError: () => {} });
  t.after(() => db.destroy().then(drop));
  await sql`
    update api_keys set requests_per_minute = 1000000, requests_per_hour = 1000000, requests_per_day = 1000000`.execute(
    db,
  );
  // Longer than a slow machine may pause.
  const env = { CUELINE_LEASE_MS: '60000' };
  const old = await spawnCueline('start', connection, env, [], sources?.main);
  t.after(() => old.kill('SIGKILL'));
  const readiness = async () => (await fetch(`${old.url}/readyz`)).status;
  // Its address is printed before its worker is registered.
  while ((await readiness()) !== 200) await wait(50);
  const load = createLoad(old);
  await load.answered(50);
  const upgraded = await spawnCueline('start', connection, env);
  t.after(() => upgraded.kill('SIGKILL'));
  await load.answered(50);
  assert.equal(await readiness(), 200);
  const loadOfUpgraded = createLoad(upgraded);
  await Promise.all([load.answered(50), loadOfUpgraded.answered(50)]);
  await Promise.all([load.stop(), loadOfUpgraded.stop()]);
  await old.kill('SIGTERM');
  assert.equal(old.child.exitCode, 0, old.output().logged);

  const accepted = [...load.accepted, ...loadOfUpgraded.accepted];
  await allEnded(db);
  for (const path of accepted) {
    const { status, body } = await call(upgraded, 'GET', path);
    assert.equal(status, 200, path);
    assert.match(body.status, /^(success|completed)$/, JSON.stringify(body));
  }
  for (const cueline of [old, upgraded]) {
    assert.doesNotMatch(cueline.output().logged, /"level":"(error|fatal)"/);
  }
});

/** Calls an agent, a workflow and batches until it is stopped. */
function createLoad(cueline: CuelineProcess) {
  const accepted: string[] = [];
  let isStopped = false;
  const post = async (path: string, body: object | string, headers?: Record<string, string>) => {
    const { status, body: answer } = await call(cueline, 'POST', path, body, headers);
    assert.equal(status, 202, JSON.stringify(answer));
    accepted.push(answer.statusUrl);
  };
  const calls = async () => {
    const { body: listed } = await call(cueline, 'GET', '/api/v1/agents');
    const { body: workflows } = await call(cueline, 'GET', '/api/v1/workflows');
    const { agentId } = listed.agents.find(({ slug }: { slug: string }) => slug === 'fast');
    const { workflowId } = workflows.workflows.find(
      ({ name }: { name: string }) => name === 'quick',
    );
    while (!isStopped) {
      // Each call is read again at the end: a fast machine would make thousands.
      await wait(50);
      await post(`/api/v1/agents/${agentId}/execute`, { variables: { name: 'Ada' } });
      await post(`/api/v1/workflows/${workflowId}/execute`, { input: { name: 'Ada' } });
      const lines = '{"variables":{"name":"one"}}\n{"variables":{"name":"two"}}\n';
      await post(`/api/v1/agents/${agentId}/batches`, lines, {
        'content-type': 'application/jsonl',
      });
    }
  };
  const ends = Promise.all([calls(), calls()]);
  ends.catch(() => {});
  return {
    accepted,
    /** Resolves once that many more calls have been accepted. */
    async answered(count: number): Promise<void> {
      const until = accepted.length + count;
      while (accepted.length < until) await Promise.race([wait(5), ends]);
    },
    async stop(): Promise<void> {
      isStopped = true;
      await ends;
    },
  };
}

async function call(
  { url }: CuelineProcess,
  method: string,
  path: string,
  body?: object | string,
  headers: Record<string, string> = { 'content-type': 'application/json' },
  // biome-ignore lint/suspicious/noExplicitAny: two versions answer
): Promise<{ status: number; body: any }> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${stateKey}`, ...(body !== undefined && headers) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}
