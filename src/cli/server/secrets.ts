import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { generateToken } from '../../core/people/token.ts';
import { deriveSealKey } from '../../core/seal.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import type { Db } from '../../db/database.ts';
import { storedSecret, syncDirectory } from '../../db/embedded/secret-file.ts';
import { secretForm } from '../../process/config/forms.ts';
import { acceptSecret, reseal, verifySecret } from '../../process/setup/reseal.ts';
import { readSecretLine } from '../client/input.ts';
import { print } from '../client/print.ts';
import type { Context } from '../command.ts';
import { openForServer } from './open-database.ts';

/**
 * Re-encrypts all stored credentials with a new secret. If Cueline manages the secret itself, the
 * command needs exclusive access to the data directory, so that nothing is encrypted with the old
 * secret meanwhile.
 */
export async function rotateSecret(
  context: Context,
  { newSecretStdin }: { newSecretStdin?: true },
): Promise<void> {
  const given = newSecretStdin ? await readSecret(context) : null;
  const { db, secret } = await openForServer(context, 'command');
  const count = managesSecret(context)
    ? await rotateManaged(db, context.config.dataDir, secret)
    : await rotateConfigured(db, secret, given);
  const next = managesSecret(context) ? '' : ' Start every process with the new secret.';
  console.error(`Re-encrypted credentials: ${count}. Everyone is signed out.${next}`);
}

/** `cueline secrets reset`: the current secret replaces one that is lost. */
export async function resetSecret(context: Context): Promise<void> {
  const { db, secret } = await openForServer(context, 'command');
  await acceptSecret(db, deriveSealKey(secret));
  console.error('Accepted the secret. Store again what it does not decrypt.');
}

/**
 * Completes an interrupted rotation before a process serves, and returns the current secret.
 * Otherwise the credentials could use one secret and the server another. Requires exclusive access
 * to the data directory, because another process might be rotating.
 */
export async function finishRotation(
  context: Context,
  { db, secret }: { readonly db: Db; readonly secret: string },
): Promise<string> {
  const { dataDir } = context.config;
  if (!managesSecret(context) || !existsSync(join(dataDir, pendingFile))) return secret;
  await rotateManaged(db, dataDir, secret);
  return storedSecret(dataDir, 'secret');
}

const pendingFile = 'secret.next';

function managesSecret({ config }: Context): boolean {
  return config.databaseUrl === null && config.secret === null;
}

async function readSecret(context: Context): Promise<string> {
  if (managesSecret(context)) {
    throw new StartupFailure('The secret in the data directory is generated and cannot be set.');
  }
  const secret = (await readSecretLine(context.lifetime.stopping)).trim();
  if (secretForm.accepts(secret)) return secret;
  throw new StartupFailure(`The new secret is invalid. Expected: ${secretForm.allowed}.`);
}

async function rotateConfigured(db: Db, old: string, given: string | null): Promise<number> {
  const next = given ?? generateToken();
  // A repeated rotation to a given secret may have succeeded before.
  if (given === null) await verifySecret(db, deriveSealKey(old));
  // Printed before use: without the secret, all credentials would be lost.
  if (given === null) await print(next);
  return reseal(db, deriveSealKey(old), deriveSealKey(next));
}

/**
 * Keeps both secrets on disk until all credentials use the new one. `secret.next` marks a rotation
 * in progress. Each step is safe to repeat after a crash.
 */
async function rotateManaged(db: Db, dataDir: string, old: string): Promise<number> {
  const path = join(dataDir, pendingFile);
  const resumed = existsSync(path);
  const next = await storedSecret(dataDir, pendingFile);
  const count = await reseal(db, deriveSealKey(old), deriveSealKey(next)).catch(async (error) => {
    // Rejected before any change, so no rotation is in progress.
    if (error instanceof StartupFailure && !resumed) await rm(path);
    throw error;
  });
  await rename(path, join(dataDir, 'secret'));
  await syncDirectory(dataDir);
  return count;
}
