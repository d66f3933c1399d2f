import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { send } from '../../../../harness/browser.ts';
import { secret, startService } from '../../../../harness/service.ts';
import { openDatabase } from '../../../../src/db/database.ts';
import { sql } from '../../../../src/db/sql.ts';
import { createSessions } from '../../../../src/features/people/access/session.ts';
import { GracefulShutdown } from '../../../../src/http/connection/graceful-shutdown.ts';
import { createServer } from '../../../../src/http/server.ts';

/** Sessions while the pool has no free connection. */

const service = await startService({ role: 'api' });
const { cookie } = await service.signIn();
const connection = { ...service.database.connection, connectionTimeoutMillis: 2_000 };
const db = openDatabase({ connection, poolMax: 1, onError: () => {} });
let endShortage: () => Promise<void> = async () => {};
const logger = pino({ level: 'silent' });
// better-auth logs a failed lookup before it responds.
logger.info = () => void endShortage();
const sessions = createSessions({
  ...{ db, secret, publicUrl: null, sendMail: null, logger },
  signIn: { github: null, google: null, oidc: null },
});
const app = createServer({ logger, trustedProxies: [], shutdown: new GracefulShutdown() });
sessions.mount(app);
app.get('/user', async (request) => ({ caller: await sessions.caller(request) }));
await app.listen({ host: '127.0.0.1', port: 0 });
const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
after(async () => {
  await app.close();
  await db.destroy();
  await service.close();
});

for (const [method, path] of [
  ['GET', '/user'],
  ['GET', '/api/auth/get-session'],
  ['GET', '/api/auth/list-sessions'],
  ['POST', '/api/auth/sign-out'],
] as const) {
  const request = () => send(url, method, path, { cookie, origin: url });

  test(`503 for ${method} ${path}, during the whole shortage`, async () => {
    const held = await holdConnection();
    endShortage = async () => {};
    await assertUnavailable(request()).finally(() => held.rollback());
  });

  test(`503 for ${method} ${path}, although the shortage ends before the response`, async () => {
    const held = await holdConnection();
    endShortage = async () => {
      endShortage = async () => {};
      await held.rollback();
    };
    await assertUnavailable(request()).finally(() => endShortage());
  });
}

test('afterwards the session still exists', async () => {
  assert.equal((await send(url, 'GET', '/user', { cookie })).status, 200);
});

async function holdConnection() {
  const held = await db.begin('read committed');
  await sql`select 1`.execute(held);
  return held;
}

async function assertUnavailable(response: ReturnType<typeof send>): Promise<void> {
  const { status, headers, body } = await response;
  assert.deepEqual([status, body?.code], [503, 'UNAVAILABLE']);
  assert.ok(Number(headers.get('retry-after')) >= 1);
}
