import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { startFakeProvider } from '../../harness/fake-provider.ts';
import { makeAgent, makePrompt, move } from '../../harness/prompts.ts';
import { sealKey, startService } from '../../harness/service.ts';
import { sql } from '../../src/db/sql.ts';
import { createCredentials } from '../../src/features/providers/verbs/credentials.ts';
import { createModels } from '../../src/models/registry.ts';

/** An image of 20 MiB on its way to a provider over HTTP, and the calls of another workspace meanwhile. */

const fake = await startFakeProvider();
const models = createModels({
  ...{ open: createCredentials({ sealKey, onUnreadable: () => {} }), env: {} },
  allowedHosts: [fake.host],
});
const service = await startService({ models });
after(async () => {
  await service.close();
  await models.close();
  await fake.close();
});
const { key } = await service.key();

test('the provider gets it as it was sent, and so has the record, while others are served', async () => {
  const put = await service.call('PUT', '/api/v1/providers/fake', {
    user: service.ownerId,
    body: { kind: 'openai-compatible', apiKey: 'sk-fake', baseURL: 'https://a.example/v1' },
  });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  // The harness forbids this host; this test is about the way to it.
  await sql`update providers set base_url = ${fake.url}`.execute(service.db);
  const content = [{ text: 'What?' }, { image: '{{photo}}' }];
  const prompt = await makePrompt(service, {
    messages: [{ role: 'user', content }],
    model: 'fake/m',
  });
  const agent = await makeAgent(service, prompt, { requiredVariables: ['photo'] });
  await move(service, agent, 'enable-api');
  const stranger = await service.workspace();
  const other = await addAgent(service, { ...stranger, createdBy: stranger.ownerId });
  const { key: otherKey } = await service.key({ ...stranger, userId: stranger.ownerId });

  const base64 = Buffer.alloc(20 * 1_048_576, 7).toString('base64');
  const image = `data:image/png;base64,${base64}`;
  fake.script({ text: 'A tide.' });
  let record: { status?: string; output?: string; inputVariables?: { photo: string } } = {};
  const ending = (async () => {
    // With white space, as MIME writes base64: the stored form has none.
    const photo = image.replace('base64,', 'base64,\n ');
    const body = JSON.stringify({ variables: { photo } });
    const accepted = await service.call('POST', `${agent.path}/execute`, { key, body });
    assert.equal(accepted.status, 202, accepted.body.message);
    do {
      record = (await service.call('GET', `${accepted.body.statusUrl}?wait=20`, { key })).body;
    } while (record.status === 'processing');
  })();
  let isEnded = false;
  const watched = ending.finally(() => {
    isEnded = true;
  });
  // Fewer than its limit per minute.
  for (let calls = 0; calls < 50 && !isEnded; calls++) {
    const body = { variables: { name: 'tide' } };
    const { status } = await service.call('POST', `${other.path}/execute`, { key: otherKey, body });
    assert.equal(status, 202);
  }
  await watched;
  assert.deepEqual([record.status, record.output], ['success', 'A tide.']);
  assert.ok(record.inputVariables?.photo === image);
  const [, part] = fake.calls[0]?.body.messages[0].content ?? [];
  assert.ok(part.image_url.url === image);
});
