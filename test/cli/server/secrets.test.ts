import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freshId } from '../../../harness/fresh-id.ts';
import { type Service, startService } from '../../../harness/service.ts';
import { sealOwner } from '../../../src/core/model/provider.ts';
import { deriveSealKey, seal, unseal } from '../../../src/core/seal.ts';
import { sql } from '../../../src/db/sql.ts';
import {
  findStoredProvider,
  putProvider,
} from '../../../src/features/providers/statements/providers.ts';
import { cueline, onDatabase, spawnCommand } from '../cueline.ts';

/**
 * `cueline secrets rotate` with a configured secret. embedded.test.ts covers the embedded database.
 */

const old = 'the first secret, of 32 characters and more';
let service: Service;
let env: Record<string, string>;

before(async () => {
  service = await startService();
  env = { ...onDatabase(service.database.connection), CUELINE_SECRET: old };
});
after(() => service.close());

test('a generated secret is printed alone and decrypts every credential', async () => {
  await store('one', old);
  await store('two', old);
  const ended = await cueline(['secrets', 'rotate'], env);
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stdout, /^\S{43}\n$/);
  assert.match(ended.stderr, /^Re-encrypted credentials: 2\. .*new secret\.\n$/);
  const fresh = ended.stdout.trim();
  assert.equal(await opened('one', fresh), 'sk-one');
  assert.equal(await opened('two', fresh), 'sk-two');

  const given = 'a second secret, of 32 characters and more';
  const args = ['secrets', 'rotate', '--new-secret-stdin'];
  const again = await cueline(args, { ...env, CUELINE_SECRET: fresh }, `${given}\n`);
  assert.deepEqual([again.code, again.stdout], [0, '']);
  assert.equal(await opened('one', given), 'sk-one');

  const path = '/api/v1/audit?action=secret.rotate';
  const { body } = await service.call('GET', path, { user: service.ownerId });
  assert.equal(body.pagination.total, 2);
  assert.deepEqual([body.audit[0].userId, body.audit[0].via], [null, 'command line']);
});

test('nothing changes if a credential cannot be decrypted', async () => {
  await forgetCanary();
  const before = 'the secret of one, of 32 characters and more';
  await store('one', before);
  await store('two', 'another secret that nobody remembers any more');
  const ended = await cueline(['secrets', 'rotate'], { ...env, CUELINE_SECRET: before });
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /^cueline: Nothing was changed\. .*'two'/);
  assert.equal(await opened('one', before), 'sk-one');
});

test('a short secret and an unprintable secret are rejected', async () => {
  await forgetCanary();
  await store('one', old);
  await store('two', old);
  const short = await cueline(['secrets', 'rotate', '--new-secret-stdin'], env, 'hunter2');
  assert.equal(short.code, 1);
  assert.match(short.stderr, /Expected: 32 characters or more that do not repeat a pattern\.\n$/);
  assert.ok(!short.stderr.includes('hunter2'));
  const unseen = spawnCommand(['secrets', 'rotate'], env);
  unseen.closeStdout();
  const { code, stderr } = await unseen.ended;
  assert.deepEqual([code, stderr], [1, 'cueline: Standard output is closed.\n']);
  assert.equal(await opened('one', old), 'sk-one');
});

test('no server starts and nothing is rotated with another secret than the last one', async () => {
  await forgetCanary();
  await store('one', old);
  await store('two', old);
  const other = { ...env, CUELINE_SECRET: 'a wrong secret, of 32 characters and more' };
  for (const args of [['start'], ['api'], ['worker'], ['secrets', 'rotate']]) {
    const { code, stdout, stderr } = await cueline(args, { ...other, PORT: '0' });
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, /^cueline: The secret [^.\n]*"cueline secrets reset"\.\n$/);
    assert.equal(stdout, '');
  }
  assert.equal(await opened('one', old), 'sk-one');
  const rotated = await cueline(['secrets', 'rotate'], env);
  assert.equal(rotated.code, 0, rotated.stderr);
  assert.equal((await cueline(['secrets', 'rotate'], env)).code, 1);

  // The printed one is lost.
  const reset = await cueline(['secrets', 'reset'], other);
  assert.deepEqual([reset.code, reset.stdout], [0, ''], reset.stderr);
  const verified = await cueline(['secrets', 'rotate'], other);
  assert.match(verified.stderr, /^cueline: Nothing was changed\. .*'one'.*'two'/);
});

/** As in a database that no server of this version has used. */
async function forgetCanary(): Promise<void> {
  await sql`delete from secret_canary`.execute(service.db);
}

function owner(id: string) {
  return sealOwner({ workspaceId: service.workspaceId, id });
}

async function store(name: string, secret: string): Promise<void> {
  const id = freshId();
  await putProvider(service.db, {
    ...{ id, name, workspaceId: service.workspaceId, kind: 'openai', baseURL: null },
    sealedApiKey: seal(deriveSealKey(secret), `sk-${name}`, owner(id)),
    ...{ sealedExtras: null, headerNames: [], queryNames: [], bodyExtraNames: [] },
    unboundedOption: null,
    ...{ organization: null, project: null, auth: null },
  });
}

async function opened(name: string, secret: string): Promise<string> {
  const { db, workspaceId } = service;
  const row = await findStoredProvider(db, workspaceId, name);
  assert.ok(row?.sealedApiKey);
  return unseal(deriveSealKey(secret), row.sealedApiKey, owner(row.id));
}
