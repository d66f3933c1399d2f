import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { addAgent } from '../../harness/agents.ts';
import { debianPostgres } from '../../harness/debian-postgres.ts';
import { openEvents } from '../../harness/read-events.ts';
import { type Replication, startReplication } from '../../harness/replication.ts';
import { type Service, startService } from '../../harness/service.ts';
import { parseDatabaseUrl } from '../../src/db/connect.ts';
import { detectPooler } from '../../src/db/detect-pooler.ts';

/** The service on a primary and a standby, while the primary fails and the standby takes over. */

const bin = debianPostgres();
const skip = bin === null && 'no PostgreSQL is installed: apt-get install postgresql';

let servers: Replication;
let service: Service;
before(async () => {
  if (bin === null) return;
  servers = await startReplication(bin);
  const connection = await detectPooler(parseDatabaseUrl(servers.url()));
  service = await startService({
    database: { connection, drop: async () => {} },
    config: { leaseMs: 3_000 },
  });
});
after(async () => {
  await service?.close();
  await servers?.stop();
});

test('calls, waits and streams survive the loss of the primary', { skip }, async (t) => {
  const { key } = await service.key();
  const agent = await addAgent(service);
  const execute = () =>
    service.call('POST', `${agent.path}/execute`, {
      key,
      body: { variables: { name: 'you' }, stream: true },
    });
  const lost = service.models.hold();
  const { status, body } = await execute();
  assert.equal(status, 202);
  const call = await lost.arrived;
  const stream = await openEvents(`${service.url}${body.statusUrl}/stream`, { key });
  const { waiters } = service.workflows;
  const subscribed = Promise.withResolvers<void>();
  const wait = waiters.wait.bind(waiters);
  t.mock.method(waiters, 'wait', (...given: Parameters<typeof wait>) => {
    subscribed.resolve();
    return wait(...given);
  });
  const waiting = service.call('GET', `${body.statusUrl}?wait=60`, { key });
  const again = service.models.hold();
  // Both responses have begun before the primary is lost.
  const [first] = await stream.until(({ event }) => event === 'status');
  assert.equal(first?.data.status, 'processing');
  await subscribed.promise;

  await servers.primary.kill();
  const refused = await execute();
  assert.equal(refused.status, 503);
  assert.equal(refused.body.code, 'UNAVAILABLE');
  assert.equal(refused.headers.get('retry-after'), '1');
  const ready = await service.call('GET', '/readyz');
  assert.equal(ready.status, 503);
  // Its result could not be recorded before another process may take over.
  if (!call.signal.aborted) await once(call.signal, 'abort');

  await servers.standby.promote();
  await again.arrived;
  again.release({ text: 'after the failover' });
  const waited = await waiting;
  assert.equal(waited.status, 200);
  assert.equal(waited.body.status, 'success');
  assert.equal(waited.body.output, 'after the failover');
  const rest = await stream.until(({ event }) => event === 'end');
  assert.equal(rest.at(-1)?.data.output, 'after the failover');
  const accepted = await execute();
  assert.equal(accepted.status, 202);
  stream.close();
  // Connections were lost on purpose.
  service.faults.splice(0);
});
