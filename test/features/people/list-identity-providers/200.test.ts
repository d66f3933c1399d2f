import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../../../harness/service.ts';

const client = { clientId: 'id', clientSecret: 'secret' };

test('lists the configured providers without authentication', async () => {
  const service = await startService({
    publicUrl: 'http://127.0.0.1:1',
    providers: { github: client },
  });
  after(service.close);
  const { status, body } = await service.call('GET', '/api/v1/identity-providers');
  assert.equal(status, 200);
  assert.deepEqual(body, { identityProviders: ['github'], passwordReset: false });
});

test('empty without a configured provider', async () => {
  const service = await startService();
  after(service.close);
  const { body } = await service.call('GET', '/api/v1/identity-providers');
  assert.deepEqual(body, { identityProviders: [], passwordReset: false });
});
