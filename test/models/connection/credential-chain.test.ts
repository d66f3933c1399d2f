import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { askModel, failedModel } from '../../../harness/ask-model.ts';
import { type FakeProvider, startFakeProvider } from '../../../harness/fake-provider.ts';
import { toId } from '../../../src/core/id.ts';

/** The server's own identity at each cloud, from a fake metadata server. */

const workspaceId = '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41';
const chainWorkspaces = [toId('workspace', workspaceId)];
const asked: string[] = [];

/** The metadata services of an EC2 instance, of Google Compute Engine and of Azure's App Service. */
function metadata({ method, url = '', headers }: IncomingMessage): string | object {
  asked.push(`${method} ${url}`);
  if (url === '/latest/api/token') return 'imds-token';
  if (url.endsWith('/security-credentials/')) return 'own-role';
  if (url.endsWith('/own-role')) {
    return {
      ...{ Code: 'Success', AccessKeyId: 'ASIAFAKE', SecretAccessKey: 'aws-secret-key' },
      ...{ Token: 'aws-session', Expiration: new Date(Date.now() + 3_600_000).toISOString() },
    };
  }
  if (url.includes('/service-accounts/default/token')) {
    assert.equal(headers['metadata-flavor'], 'Google');
    return { access_token: 'google-token-1', expires_in: 3_600, token_type: 'Bearer' };
  }
  if (url.startsWith('/azure')) {
    assert.equal(headers['x-identity-header'], 'own-header');
    const expires = Math.floor(Date.now() / 1_000) + 3_600;
    return { access_token: 'azure-token-1', expires_on: String(expires), token_type: 'Bearer' };
  }
  return {};
}

const server = createServer((request, response) => {
  const answer = metadata(request);
  response.setHeader('metadata-flavor', 'Google');
  response.setHeader('x-aws-ec2-metadata-token-ttl-seconds', '3600');
  const isText = typeof answer === 'string';
  response.setHeader('content-type', isText ? 'text/plain' : 'application/json');
  response.end(isText ? answer : JSON.stringify(answer));
});
let fake: FakeProvider;
const original = { ...process.env };

before(async () => {
  fake = await startFakeProvider();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const name of Object.keys(process.env)) {
    if (/^(AWS|AZURE|GOOGLE|GCE|MSI|IDENTITY)_/.test(name)) delete process.env[name];
  }
  Object.assign(process.env, {
    ...{ HOME: '/nonexistent', AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://${host}` },
    ...{ GCE_METADATA_HOST: host, METADATA_SERVER_DETECTION: 'assume-present' },
    ...{ IDENTITY_ENDPOINT: `http://${host}/azure`, IDENTITY_HEADER: 'own-header' },
  });
});
after(async () => {
  for (const name of Object.keys(process.env)) if (!(name in original)) delete process.env[name];
  Object.assign(process.env, original);
  server.closeAllConnections();
  server.close();
  await fake.close();
});

const chain = { apiKey: null, auth: 'chain' } as const;

test('Bedrock: requests are signed with the role of the instance', async () => {
  const before = fake.calls.length;
  const env = { AWS_REGION: 'eu-west-1' };
  await askModel(fake, { ...chain, kind: 'bedrock' }, { workspaceId, chainWorkspaces, env }).catch(
    () => {},
  );
  const [call] = fake.calls.slice(before);
  assert.match(
    call?.headers.authorization ?? '',
    /^AWS4-HMAC-SHA256 Credential=ASIAFAKE\/\d{8}\/eu-west-1\/bedrock\//,
  );
  assert.equal(call?.headers['x-amz-security-token'], 'aws-session');
});

for (const [kind, token] of [
  ['google', 'google-token-1'],
  ['azure', 'azure-token-1'],
] as const) {
  test(`${kind}: requests carry the token of the machine, which is removed from errors`, async () => {
    const before = fake.calls.length;
    fake.script({ status: 401, body: { error: { message: `bad token ${token}.` } } });
    const failure = await failedModel(fake, { ...chain, kind }, { workspaceId, chainWorkspaces });
    assert.equal(failure.message, 'The provider answered 401: bad token [redacted].');
    const [call] = fake.calls.slice(before);
    assert.equal(call?.headers.authorization, `Bearer ${token}`);
    assert.deepEqual(
      [call?.headers['api-key'], call?.headers['x-goog-api-key']],
      [undefined, undefined],
    );
  });
}

test('a workspace that the operator does not name gets no token, and no foreign host does', async () => {
  const before = [asked.length, fake.calls.length];
  for (const kind of ['bedrock', 'google', 'azure'] as const) {
    const unnamed = await failedModel(fake, { ...chain, kind }, { workspaceId });
    assert.equal(unnamed.code, 'PROVIDER_NOT_CONFIGURED');
    assert.match(unnamed.message, /CUELINE_CHAIN_WORKSPACES/);
    for (const baseURL of [
      'https://attacker.example/v1',
      'https://openai.azure.com.attacker.example',
      'https://aiplatform.googleapis.com.attacker.example',
      'https://bedrock-runtime.attacker.com',
      'https://storage.googleapis.com/bucket',
      'https://bucket.s3.us-east-1.amazonaws.com',
      'https://abc.execute-api.us-east-1.amazonaws.com',
      'https://own.azurewebsites.net',
    ]) {
      const foreign = await failedModel(
        fake,
        { ...chain, kind, baseURL },
        { workspaceId, chainWorkspaces },
      );
      assert.equal(foreign.code, 'PROVIDER_NOT_CONFIGURED', baseURL);
      assert.match(foreign.message, /CUELINE_ALLOWED_HOSTS/);
    }
  }
  assert.deepEqual([asked.length, fake.calls.length], before);
});
