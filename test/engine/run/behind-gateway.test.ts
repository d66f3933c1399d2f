import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { addAgent, run } from '../../../harness/agents.ts';
import { type FakeProvider, startFakeProvider } from '../../../harness/fake-provider.ts';
import { freePort } from '../../../harness/free-port.ts';
import { type Service, sealKey, startService } from '../../../harness/service.ts';
import { sql } from '../../../src/db/sql.ts';
import { createCredentials } from '../../../src/features/providers/verbs/credentials.ts';
import { createModels, type Models } from '../../../src/models/registry.ts';

/** An agent behind Portkey's gateway, which is told by headers where to send a call. */

const program = join(
  import.meta.dirname,
  '../../../node_modules/@portkey-ai/gateway/build/start-server.js',
);
let fake: FakeProvider;
let gateway: ChildProcess;
let models: Models;
let service: Service;
let host: string;

before(async () => {
  fake = await startFakeProvider();
  const port = await freePort();
  host = `127.0.0.1:${port}`;
  gateway = spawn(process.execPath, [program, '--headless', `--port=${port}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const text of gateway.stdout ?? []) if (/Ready/.test(String(text))) break;
  models = createModels({
    ...{ open: createCredentials({ sealKey, onUnreadable: () => {} }), env: {} },
    allowedHosts: [host],
  });
  service = await startService({ models });
});
after(async () => {
  await service.close();
  await models.close();
  gateway.kill();
  await fake.close();
});

test('an agent is executed, and an error of the provider behind the gateway keeps its meaning', async () => {
  const put = await service.call('PUT', '/api/v1/providers/gateway', {
    user: service.ownerId,
    body: {
      ...{ kind: 'openai-compatible', apiKey: 'sk-behind', baseURL: 'https://a.example/v1' },
      headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': fake.url },
      bodyExtra: { service_tier: 'flex' },
    },
  });
  assert.equal(put.status, 200);
  // The harness forbids this host in tests; this test is about the gateway.
  await sql`update providers set base_url = ${`http://${host}/v1`}`.execute(service.db);
  const { key } = await service.key();

  const agent = await addAgent(service, { model: 'gateway/some-model' });
  const record = await run(service, agent, key);
  assert.partialDeepStrictEqual(record, {
    ...{ status: 'success', output: 'Hello you', inputTokens: 10, outputTokens: 5 },
  });
  const [call] = fake.calls;
  assert.deepEqual(
    [call?.path, call?.headers.authorization, call?.body.service_tier],
    ['/v1/chat/completions', 'Bearer sk-behind', 'flex'],
  );

  const unauthorized = await addAgent(service, { model: 'gateway/unauthorized' });
  const failed = await run(service, unauthorized, key);
  assert.deepEqual([failed.status, failed.errorCode], ['failed', 'PROVIDER_AUTH']);
});
