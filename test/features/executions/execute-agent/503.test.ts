import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addAgent, ended } from '../../../../harness/agents.ts';
import { startService } from '../../../../harness/service.ts';
import { startProxy } from '../../../../proof/proxy.ts';
import { sql } from '../../../../src/db/sql.ts';

/** One service directly on the database, and one behind a proxy that simulates network failures. */
const direct = await startService();
const { database } = direct;
const proxy = await startProxy(database.connection);
const service = await startService({
  role: 'api',
  sharedWith: { ...direct, database: { ...database, connection: proxy.connection } },
});
after(async () => {
  // Lost connections are expected.
  service.faults.length = 0;
  await service.close();
  await proxy.close();
  await direct.close();
});
const { key } = await direct.key();
const agent = await addAgent(direct);

function execute(idempotencyKey: string) {
  return service.call('POST', `${agent.path}/execute`, {
    key,
    body: { variables: { name: 'you' } },
    headers: { 'idempotency-key': idempotencyKey },
  });
}

function breakAtCommit(side: 'before' | 'after', then = () => {}): void {
  proxy.onSent = (_link, text) => {
    if (!/admission-.*commit/s.test(text)) return null;
    proxy.onSent = null;
    then();
    return side;
  };
}

async function executions(idempotencyKey: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from idempotency i join all_executions e on e.id = i.result
    where i.key = ${idempotencyKey}`.execute(direct.db);
  return rows[0]?.n ?? -1;
}

test('a commit that succeeds without a reply is a 202', async () => {
  await execute('warm');
  breakAtCommit('after');
  const { status, body } = await execute('kept');
  assert.equal(status, 202);
  assert.equal((await ended(direct, body.statusUrl, key)).status, 'success');
  assert.equal(await executions('kept'), 1);
});

test('a commit that never arrives is a 503, and nothing is stored', async () => {
  await execute('warm');
  breakAtCommit('before');
  const { status, headers, body } = await execute('lost');
  assert.equal(status, 503);
  assert.equal(body.code, 'UNAVAILABLE');
  assert.equal(headers.get('retry-after'), '1');
  assert.equal(await executions('lost'), 0);
});

test('OUTCOME_UNKNOWN if the commit cannot be resolved; a retry with the same Idempotency-Key is safe', async () => {
  await execute('warm');
  breakAtCommit('after', () => setImmediate(proxy.refuse));
  const { status, headers, body } = await execute('unknown');
  assert.equal(status, 503);
  assert.equal(body.code, 'OUTCOME_UNKNOWN');
  assert.equal(headers.get('retry-after'), '1');
  proxy.heal();
  const again = await execute('unknown');
  assert.equal(again.status, 202);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.equal(await executions('unknown'), 1);
});
