import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshId } from '../../../harness/fresh-id.ts';
import { sealKey } from '../../../harness/service.ts';
import { sealOwner } from '../../../src/core/model/provider.ts';
import { seal } from '../../../src/core/seal.ts';
import { generateWebhookSecret } from '../../../src/core/standard-webhooks.ts';
import type { DueDelivery } from '../../../src/features/events/statements/deliveries.ts';
import { attemptDelivery } from '../../../src/features/events/verbs/attempt-delivery.ts';

/** The outcome of an attempt whose receiver answers with this status. */
function attempt(status: number, attemptCount = 0) {
  const [workspaceId, endpointId] = [freshId(), freshId()];
  const owner = sealOwner({ workspaceId, id: endpointId });
  const post = async () => ({ status, retryAfter: null, text: '' });
  const due: DueDelivery = {
    ...{ id: freshId(), type: 'execution.succeeded', at: new Date(0), sequence: 1, data: '{}' },
    ...{ workspaceId, endpointId, url: 'https://app.example/', payload: 'thin', subject: null },
    ...{
      format: 'standard',
      sealedUrl: null,
      sealedSecret: seal(sealKey, generateWebhookSecret(), owner),
    },
    ...{ previousSealedSecret: null, isFailing: false, isSuccessOld: true, attemptCount, nowMs: 0 },
  };
  const { signal } = new AbortController();
  return attemptDelivery({ post, sealKey, version: '1' }, due, { readAt: 0, full: null, signal });
}

test('only a status of 2xx is a success; a redirect and an error are tried again', async () => {
  for (const status of [200, 204, 299]) {
    const { delivered, retryMs, attempt: logged } = await attempt(status);
    assert.deepEqual([delivered, retryMs, logged.error], [true, null, null]);
  }
  for (const status of [199, 302, 304, 400, 429, 500]) {
    const { delivered, retryMs, attempt: logged } = await attempt(status);
    assert.deepEqual([delivered, logged.error], [false, `The receiver answered ${status}.`]);
    assert.ok(retryMs !== null && retryMs > 0);
  }
});

test('410 and the last attempt are final', async () => {
  assert.equal((await attempt(410)).retryMs, null);
  assert.equal((await attempt(500, 9)).retryMs, null);
});
