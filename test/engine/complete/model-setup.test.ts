import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, run } from '../../../harness/agents.ts';
import { startService } from '../../../harness/service.ts';
import { ModelFailure, type ModelSetup } from '../../../src/core/model/model-port.ts';

/** The provider and price of a call: those of its model and workspace at the time of the claim. */

const service = await startService();
after(service.close);
const user = service.ownerId;
const { key } = await service.key();

async function store(options: { user: string; kind: string; price: string }, model = 'mine/one/a') {
  const { user, kind, price } = options;
  const baseURL = `https://${kind}.example.com/v1`;
  const [name] = model.split('/');
  const provider = { kind, apiKey: 'sk-any', baseURL };
  const put = await service.call('PUT', `/api/v1/providers/${name}`, { user, body: provider });
  const prices = { model, inputPerMillion: price, outputPerMillion: price };
  const priced = await service.call('PUT', '/api/v1/prices', { user, body: prices });
  assert.deepEqual([put.status, priced.status], [200, 200]);
}

function shown({ provider, price }: ModelSetup) {
  return [
    provider && [provider.kind, provider.sealedApiKey !== null, provider.baseURL],
    price && [price.inputPerMillion, price.outputPerMillion, price.cacheReadPerMillion],
  ];
}

const setupOfLastCall = () => shown(service.models.calls.at(-1)?.setup ?? assert.fail('no call'));

test('the model override of the agent decides', async () => {
  await store({ user, kind: 'azure', price: '0.5' });
  await store({ user, kind: 'openai', price: '7' }, 'pinned/b');
  const agent = await addAgent(service, { model: 'pinned/b', config: { model: 'mine/one/a' } });
  await run(service, agent, key);
  const mine = [
    ['azure', true, 'https://azure.example.com/v1'],
    ['0.5', '0.5', null],
  ];
  assert.deepEqual(setupOfLastCall(), mine);
  await run(service, await addAgent(service, { model: 'pinned/b' }), key);
  assert.deepEqual(setupOfLastCall(), [
    ['openai', true, 'https://openai.example.com/v1'],
    ['7', '7', null],
  ]);
});

test('without a stored provider in the own workspace the setup is empty', async () => {
  const other = await service.workspace();
  await store({ user: other.ownerId, kind: 'openai', price: '1' }, 'theirs/c');
  await run(service, await addAgent(service, { model: 'theirs/c' }), key);
  assert.deepEqual(setupOfLastCall(), [null, null]);
});

test('each attempt reads the current setup', async () => {
  await store({ user, kind: 'google', price: '1' }, 'changing/d');
  const agent = await addAgent(service, { model: 'changing/d' });
  service.models.script(
    async () => {
      await store({ user, kind: 'anthropic', price: '2' }, 'changing/d');
      throw new ModelFailure('PROVIDER_ERROR', 'Once.');
    },
    async () => {
      await service.call('DELETE', '/api/v1/providers/changing', { user });
      await service.call('DELETE', '/api/v1/prices?model=changing/d', { user });
      throw new ModelFailure('PROVIDER_ERROR', 'Twice.');
    },
  );
  const before = service.models.calls.length;
  const record = await run(service, agent, key);
  assert.deepEqual([record.status, record.attempts], ['success', 3]);
  assert.deepEqual(
    service.models.calls.slice(before).map(({ setup }) => shown(setup)),
    [
      [
        ['google', true, 'https://google.example.com/v1'],
        ['1', '1', null],
      ],
      [
        ['anthropic', true, 'https://anthropic.example.com/v1'],
        ['2', '2', null],
      ],
      [null, null],
    ],
  );
});
