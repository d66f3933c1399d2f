import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { spawnCueline } from '../../../harness/process.ts';
import { sealOwner } from '../../../src/core/model/provider.ts';
import { deriveSealKey, unseal } from '../../../src/core/seal.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { findEmbedded } from '../../../src/db/embedded/embedded.ts';
import { readPostmaster } from '../../../src/db/embedded/postmaster.ts';
import { findFirstWorkspace } from '../../../src/features/people/statements/workspaces.ts';
import { findStoredProvider } from '../../../src/features/providers/statements/providers.ts';
import { cueline, jsonLines } from '../cueline.ts';

/**
 * Commands on the embedded database: alone, concurrently, next to a server, and after a rotation
 * interrupted by a crash.
 */

const create = ['keys', 'create', '--name', 'N', '--permission', 'read,manage,own', '--json'];

test('issues keys with and without a server, and credentials survive a crash', async (t) => {
  const dataDir = await newDataDir(t);
  const env = { CUELINE_DATA_DIR: dataDir };
  const postmaster = () => readPostmaster(join(dataDir, 'postgres'));

  // Concurrently: one starts the database, and the other waits for it to stop.
  const alone = await Promise.all([cueline(create, env), cueline(create, env)]);
  for (const { code, stderr } of alone) assert.equal(code, 0, stderr);
  const output = alone.map(({ stderr }) => stderr).join('');
  assert.equal(output.match(/^Password: \S+ +\(shown once\)$/gm)?.length, 1, output);
  assert.equal(await postmaster(), null, 'PostgreSQL was left running');

  const [first, during] = await Promise.all([started(t, dataDir), cueline(create, env)]);
  assert.equal(during.code, 0, during.stderr);
  const concurrent = await cueline(create, env);
  assert.deepEqual([concurrent.code, concurrent.stderr], [0, '']);
  const keys = [...alone, during, concurrent].map((ended) => jsonLines(ended)[0].key as string);
  for (const key of keys) assert.equal(await call(`${first.url}/api/v1/agents`, key), 200);
  const provider = { kind: 'openai', apiKey: 'sk-kept' };
  assert.equal(await call(`${first.url}/api/v1/providers/own`, keys[0], provider), 200);
  const refused = await cueline(['secrets', 'rotate'], env);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, new RegExp(`Another Cueline \\(pid ${first.child.pid}\\)`));
  await first.kill('SIGTERM');

  const secret = join(dataDir, 'secret');
  const next = `${secret}.next`;
  const before = await readFile(secret, 'utf8');
  const rotated = await cueline(['secrets', 'rotate'], env);
  assert.deepEqual([rotated.code, rotated.stdout], [0, ''], rotated.stderr);
  assert.match(rotated.stderr, /^Re-encrypted credentials: 1\./);
  const after = await readFile(secret, 'utf8');
  assert.notEqual(after, before);

  // As if killed after the credentials were re-encrypted.
  await rename(secret, next);
  await writeFile(secret, before, { mode: 0o600 });
  const second = await started(t, dataDir);
  assert.equal(await readFile(secret, 'utf8'), after);
  assert.equal(await credential(dataDir, after), 'sk-kept');
  await second.kill('SIGTERM');

  // As if killed before that.
  const made = `${'x'.repeat(43)}\n`;
  await writeFile(next, made, { mode: 0o600 });
  const third = await started(t, dataDir);
  assert.equal(await readFile(secret, 'utf8'), made);
  assert.equal(await credential(dataDir, made), 'sk-kept');
  assert.ok(!(await readdir(dataDir)).includes('secret.next'));
  await third.kill('SIGTERM');
  assert.equal(await postmaster(), null);

  const given = await cueline(['secrets', 'rotate', '--new-secret-stdin'], env, made);
  assert.equal(given.code, 1);
  assert.match(given.stderr, /is generated and cannot be set/);
});

async function newDataDir(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'cueline-commands-'));
  await chmod(directory, 0o755);
  const dataDir = join(directory, 'data');
  t.after(async () => {
    const remaining = await readPostmaster(join(dataDir, 'postgres')).catch(() => null);
    if (remaining) process.kill(remaining.pid, 'SIGKILL');
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  return dataDir;
}

async function started(t: TestContext, dataDir: string) {
  const embedded = { DATABASE_URL: '', CUELINE_SECRET: '', CUELINE_DATA_DIR: dataDir };
  const server = await spawnCueline('start', {}, embedded);
  t.after(() => server.kill('SIGKILL'));
  return server;
}

async function call(url: string, key: string | undefined, body?: object): Promise<number> {
  const response = await fetch(url, {
    method: body ? 'PUT' : 'GET',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  await response.body?.cancel();
  return response.status;
}

/** Decrypts the stored credential with this secret, while the server runs. */
async function credential(dataDir: string, secret: string): Promise<string> {
  const connection = await findEmbedded(dataDir);
  assert.ok(connection);
  const db = openDatabase({ connection, poolMax: 1, onError: () => {} });
  try {
    const workspaceId = (await findFirstWorkspace(db))?.workspaceId ?? '';
    const row = await findStoredProvider(db, workspaceId, 'own');
    assert.ok(row?.sealedApiKey);
    const key = deriveSealKey(secret.trim());
    return unseal(key, row.sealedApiKey, sealOwner({ workspaceId, id: row.id }));
  } finally {
    await db.destroy();
  }
}
