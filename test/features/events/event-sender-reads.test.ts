import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { addEndpoint } from '../../../harness/endpoints.ts';
import { testPipelines, watchedSend } from '../../../harness/pipelines.ts';
import { sealKey, startService } from '../../../harness/service.ts';
import type { PostAnswer } from '../../../src/core/event/post.ts';
import { fromId } from '../../../src/core/id.ts';
import { sql } from '../../../src/db/sql.ts';
import { createEventSender } from '../../../src/features/events/verbs/event-sender.ts';

/** What the sender read, against what it wrote before the response arrived. The tests send the responses. */

/** A service that sends nothing itself, an endpoint, and a sender whose requests and reads the test holds. */
async function setUp(t: TestContext) {
  const service = await startService({ role: 'api' });
  const { key } = await service.key();
  const endpoint = await addEndpoint(service, key, { url: 'https://shop.example/' });
  const id = fromId('endpoint', endpoint.endpointId);
  const worker = randomUUID();
  await sql`
    insert into workers (id, lease_until) values (${worker}, clock_timestamp() + interval '1 hour')`.execute(
    service.db,
  );
  const pipelines = testPipelines(service.database.connection, 2);
  const statements: string[] = [];
  const requests: { readonly id: string; readonly answer: (status: number) => void }[] = [];
  let arrived = () => {};
  /** Holds back the response of the next read of two deliveries. */
  let gate: { readonly hasRead: () => void; readonly released: Promise<void> } | null = null;
  const sender = createEventSender({
    ...{ db: service.db, sealKey, version: '0.0.0', lease: () => worker, onAttempt: () => {} },
    onError: (error) => void service.faults.push(error),
    post: ({ headers, signal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>();
      signal.addEventListener('abort', () => reject(signal.reason));
      // A failure is not tried again during the test.
      const answer = (status: number) => resolve({ status, retryAfter: '3600', text: '' });
      requests.push({ id: headers['webhook-id'] ?? '', answer });
      arrived();
      return promise;
    },
    pipelines: {
      ...pipelines,
      async use(work, timeoutMs) {
        const names: string[] = [];
        const result = await pipelines.use((send) => {
          const noted = watchedSend(send, ({ name }) => {
            names.push(name);
            return undefined;
          });
          return work(noted);
        }, timeoutMs);
        statements.push(...names);
        const held = gate;
        if (!held || !Array.isArray(result) || result.length < 2) return result;
        gate = null;
        held.hasRead();
        await held.released;
        return result;
      },
    },
  });
  t.after(async () => {
    await sender.stop();
    await pipelines.close();
    await service.close();
  });
  return {
    ...{ endpoint, sender, requests },
    /** The statements that have ended. */
    statements,
    async ping(): Promise<void> {
      await endpoint.call('POST', '/test');
      sender.wake();
    },
    /** Resolves once the sender has sent this many requests. */
    async requested(count: number): Promise<void> {
      while (requests.length < count) {
        const { promise, resolve } = Promise.withResolvers<void>();
        arrived = resolve;
        await promise;
      }
    },
    /** Holds back the next read of two deliveries. Resolves, once they are read, to what lets them arrive. */
    async readIsHeld(cause: () => Promise<void>): Promise<() => void> {
      const [read, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      gate = { hasRead: read.resolve, released: release.promise };
      await cause();
      await read.promise;
      return release.resolve;
    },
    /** Resolves once the health of the endpoint has been recorded as failing. */
    async failing(): Promise<void> {
      while ((await endpoint.call('GET')).failingSince === null);
    },
    async makeSuccessOld(): Promise<void> {
      await sql`
        update endpoints set last_success_at = clock_timestamp() - interval '2 minutes' where id = ${id}`.execute(
        service.db,
      );
    },
  };
}

test('a delivery that ends before the read of it arrives is not repeated', async (t) => {
  const { endpoint, sender, requests, ping, requested, readIsHeld } = await setUp(t);
  await ping();
  await requested(1);
  const release = await readIsHeld(ping);
  requests[0]?.answer(200);
  await endpoint.delivered(requests[0]?.id ?? '');
  release();
  await requested(2);
  requests[1]?.answer(200);
  await endpoint.delivered(requests[1]?.id ?? '');
  await sender.stop();
  assert.equal(requests.length, 2);
  assert.notEqual(requests[0]?.id, requests[1]?.id);
});

test('a success after a failure is recorded, also if its delivery was read before the failure', async (t) => {
  const { endpoint, sender, requests, ping, requested, readIsHeld, failing } = await setUp(t);
  await ping();
  await requested(1);
  requests[0]?.answer(200);
  await endpoint.delivered(requests[0]?.id ?? '');
  await ping();
  await requested(2);
  const release = await readIsHeld(ping);
  requests[1]?.answer(500);
  await failing();
  release();
  await requested(3);
  requests[2]?.answer(200);
  await endpoint.delivered(requests[2]?.id ?? '');
  await sender.stop();
  assert.equal((await endpoint.call('GET')).failingSince, null);
});

test('health is written when it changes, and a success once a minute', async (t) => {
  const setup = await setUp(t);
  const { endpoint, sender, requests, statements, ping, requested, makeSuccessOld } = setup;
  const written = () => statements.filter((name) => name === 'endpoints-record-health').length;
  for (const [n, { status, writes, isOld = false }] of [
    { status: 200, writes: 1 },
    { status: 200, writes: 1 },
    { status: 200, writes: 2, isOld: true },
    { status: 500, writes: 3 },
    { status: 500, writes: 3 },
    { status: 200, writes: 4 },
    { status: 200, writes: 4 },
  ].entries()) {
    if (isOld) await makeSuccessOld();
    await ping();
    await requested(n + 1);
    requests[n]?.answer(status);
    const state = status === 200 ? 'delivered' : 'pending';
    const id = requests[n]?.id ?? '';
    while ((await endpoint.delivered(id, state)).attempts.length === 0);
    // The health follows the attempt, and the next delivery follows both.
    while (written() < writes) await new Promise(setImmediate);
    assert.equal(written(), writes, `${n}`);
    const { failingSince, lastSuccessAt } = await endpoint.call('GET');
    assert.equal(failingSince !== null, status === 500);
    assert.notEqual(lastSuccessAt, null);
  }
  await sender.stop();
  assert.equal(written(), 4);
});
