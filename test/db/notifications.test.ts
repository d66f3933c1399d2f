import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createTestDatabase } from '../../harness/database.ts';
import { openDatabase } from '../../src/db/database.ts';
import { detectPooler } from '../../src/db/detect-pooler.ts';
import { openNotifications } from '../../src/db/notifications.ts';
import { sql } from '../../src/db/sql.ts';

test('a server that is silent loses the idle connections, and another connection listens', async () => {
  const database = await createTestDatabase();
  const connection = await detectPooler({
    ...database.connection,
    application_name: 'silent receiver',
  });
  const db = openDatabase({ connection: database.connection, poolMax: 1, onError: () => {} });
  const notifications = openNotifications({ db, connection, onError: () => {}, checkMs: 100 });
  const listening = async (): Promise<number> => {
    for (;;) {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_stat_activity
        where application_name = 'silent receiver' and query = 'select 1'`.execute(db);
      if (rows[0]) return rows[0].pid;
      await wait(20);
    }
  };
  const closing = new EventTarget();
  connection.idle?.add(() => closing.dispatchEvent(new Event('close')));
  const pid = await listening();
  try {
    const closed = once(closing, 'close');
    process.kill(pid, 'SIGSTOP');
    await closed;
    const received = new Promise<readonly string[]>((resolve) => {
      notifications.subscribe('cueline_event_queued', resolve);
    });
    while ((await Promise.race([received, wait(50)])) === undefined)
      await sql`select pg_notify('cueline_event_queued', 'again')`.execute(db);
    assert.deepEqual(await received, ['again']);
  } finally {
    process.kill(pid, 'SIGCONT');
    await notifications.close();
    await db.destroy();
    await database.drop();
  }
});

test('what is published reaches the subscribers of this process at once, and those of others', async () => {
  const database = await createTestDatabase();
  const connection = await detectPooler(database.connection);
  const db = openDatabase({ connection: database.connection, poolMax: 1, onError: () => {} });
  const [here, there] = [1, 2].map(() => openNotifications({ db, connection, onError: () => {} }));
  try {
    const heard: (readonly string[])[] = [];
    here?.subscribe('cueline_execution_ended', (ids) => heard.push(ids));
    here?.publish('cueline_execution_ended', []);
    here?.publish('cueline_execution_ended', ['a', 'b']);
    assert.deepEqual(heard, [['a', 'b']]);
    const others = new Promise<readonly string[]>((resolve) => {
      there?.subscribe('cueline_execution_ended', resolve);
    });
    // Until it listens.
    while ((await Promise.race([others, wait(50)])) === undefined)
      here?.publish('cueline_execution_ended', ['a', 'b']);
    assert.deepEqual(await others, ['a', 'b']);
  } finally {
    await here?.close();
    await there?.close();
    await db.destroy();
    await database.drop();
  }
});
