import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService();
after(service.close);
const { key } = await service.key();
const agent = await addAgent(service);

async function execute(name: string, marks: object, user?: string): Promise<string> {
  const path = user ? `/api/agents/${agent.agentId}` : agent.path;
  const caller = user ? { user } : { key };
  const body = { variables: { name }, ...marks };
  const accepted = await service.call('POST', `${path}/execute`, { ...caller, body });
  await ended(service, accepted.body.statusUrl, key);
  return accepted.body.executionId;
}

const ada = await execute('Ada', { tags: ['x'], user: 'u' });
const bob = await execute('Bob', { tags: ['x'], user: 'u', playground: true });
await execute('Cyd', { session: 's', playground: true }, service.ownerId);
await execute('Dan', { session: 's' }, service.ownerId);
const eve = await execute('Eve', { rerunOf: ada, playground: true });

/** The names of the matches of both lists and the export, oldest first. */
async function found(query: Record<string, string>): Promise<string[]> {
  const text = new URLSearchParams(query).toString();
  const [own, all] = await Promise.all(
    [agent.path, '/api/v1'].map(async (path) => {
      const { status, body } = await service.call('GET', `${path}/executions?${text}`, { key });
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.pagination.total, body.executions.length);
      return body.executions.map(nameOf).reverse();
    }),
  );
  assert.deepEqual(all, own);
  const { include: _, ...filters } = query;
  const path = `${service.url}${agent.path}/executions/export?${new URLSearchParams(filters)}`;
  const response = await fetch(path, { headers: { authorization: `Bearer ${key}` } });
  const lines = (await response.text()).split('\n').slice(0, -1);
  assert.deepEqual(lines.map((line) => nameOf(JSON.parse(line))).reverse(), own);
  return own;
}

const nameOf = (one: { inputVariables: { name: string } }) => one.inputVariables.name;

test('lists and exports leave marked executions out, unless they are asked for them', async () => {
  assert.deepEqual(await found({}), ['Ada', 'Dan']);
  assert.deepEqual(await found({ include: 'processing' }), ['Ada', 'Dan']);
  assert.deepEqual(await found({ playground: 'false' }), ['Ada', 'Dan']);
  assert.deepEqual(await found({ playground: 'true' }), ['Bob', 'Cyd', 'Eve']);
  const all = ['Ada', 'Bob', 'Cyd', 'Dan', 'Eve'];
  assert.deepEqual(await found({ playground: 'true,false' }), all);
  assert.deepEqual(await found({ playground: 'true,false', include: 'processing' }), all);
});

test('the mark combines with every kind of filter', async () => {
  assert.deepEqual(await found({ source: 'dashboard' }), ['Dan']);
  assert.deepEqual(await found({ source: 'dashboard', playground: 'true' }), ['Cyd']);
  assert.deepEqual(await found({ source: 'dashboard,api', playground: 'true,false' }), [
    ...['Ada', 'Bob', 'Cyd', 'Dan', 'Eve'],
  ]);
  assert.deepEqual(await found({ source: 'workflow', playground: 'true' }), []);
  assert.deepEqual(await found({ user: 'u' }), ['Ada']);
  assert.deepEqual(await found({ user: 'u', playground: 'true' }), ['Bob']);
  assert.deepEqual(await found({ session: 's', playground: 'true,false' }), ['Cyd', 'Dan']);
  assert.deepEqual(await found({ tag: 'x' }), ['Ada']);
  assert.deepEqual(await found({ tag: 'x', playground: 'true' }), ['Bob']);
  assert.deepEqual(await found({ model: 'cueline/echo' }), ['Ada', 'Dan']);
  assert.deepEqual(await found({ q: 'Bob' }), []);
  assert.deepEqual(await found({ q: 'Bob', playground: 'true' }), ['Bob']);
});

test('an execution that is named is found, marked or not', async () => {
  assert.deepEqual(await found({ executionId: `${ada},${bob}` }), ['Ada', 'Bob']);
  assert.deepEqual(await found({ executionId: `${ada},${bob}`, playground: 'false' }), ['Ada']);
  assert.deepEqual(await found({ rerunOf: ada }), ['Eve']);
  const { body } = await service.call('GET', `${agent.path}/executions/${eve}`, { key });
  assert.equal(body.playground, true);
});

test('pages skip marked executions', async () => {
  const { body } = await service.call('GET', `${agent.path}/executions?limit=1`, { key });
  assert.deepEqual(body.executions.map(nameOf), ['Dan']);
  assert.deepEqual([body.pagination.total, body.pagination.hasMore], [2, true]);
  const next = `${agent.path}/executions?limit=1&cursor=${body.nextCursor}`;
  const { body: second } = await service.call('GET', next, { key });
  assert.deepEqual(second.executions.map(nameOf), ['Ada']);
  const offset = await service.call('GET', `${agent.path}/executions?limit=1&offset=1`, { key });
  assert.deepEqual(offset.body.executions.map(nameOf), ['Ada']);
});

test('400 for another value, which names those that are allowed', async () => {
  for (const value of ['yes', '', 'TRUE', 'true,maybe']) {
    const path = `${agent.path}/executions?playground=${value}`;
    const { status, body } = await service.call('GET', path, { key });
    assert.equal(status, 400, value);
    assert.match(body.message, /"playground".*true.*false/);
  }
});
