import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent } from '../../../../harness/agents.ts';
import {
  batchWhen,
  jsonLines,
  namedLines,
  resultsOf,
  unlimited,
  upload,
} from '../../../../harness/batches.ts';
import { startService } from '../../../../harness/service.ts';

const service = await startService({ config: { slots: 4 } });
after(service.close);
const { key } = await service.key({ rateLimits: unlimited });

test('cancels the lines that wait and the executions that run, once', async () => {
  const agent = await addAgent(service);
  const held = Array.from({ length: 3 }, () => service.models.hold());
  const { body } = await upload(service, agent, jsonLines(namedLines(10)), { key });
  const { statusUrl } = body;
  await Promise.all(held.map(({ arrived }) => arrived));
  const canceled = await service.call('POST', `${statusUrl}/cancel`, { key });
  assert.equal(canceled.status, 200);
  assert.deepEqual(
    [canceled.body.status, canceled.body.canceledBecause, canceled.body.counts.waiting],
    ['canceled', 'requested', 0],
  );
  const { counts } = await batchWhen(service, statusUrl, key);
  assert.deepEqual([counts.canceled, counts.processing], [10, 0]);
  const results = await resultsOf(service, statusUrl, key);
  assert.deepEqual(
    results.map(({ status, errorCode, executionId }) => [status, errorCode, executionId !== null]),
    Array.from({ length: 10 }, (_, at) => ['canceled', 'CANCELED', at < 3]),
  );
  const again = await service.call('POST', `${statusUrl}/cancel`, { key });
  assert.deepEqual([again.status, again.body.code], [409, 'ALREADY_ENDED']);
});

test('a batch that is completed cannot be canceled', async () => {
  const agent = await addAgent(service);
  const { body } = await upload(service, agent, jsonLines(namedLines(2)), { key });
  await batchWhen(service, body.statusUrl, key);
  const { status } = await service.call('POST', `${body.statusUrl}/cancel`, { key });
  assert.equal(status, 409);
});

test('needs a batch of the agent', async () => {
  const [agent, other] = [await addAgent(service), await addAgent(service)];
  const { body } = await upload(service, agent, jsonLines(namedLines(1)), { key });
  const path = `${other.path}/batches/${body.batchId}/cancel`;
  assert.equal((await service.call('POST', path, { key })).status, 404);
});
