import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { secretForm } from '../../config/forms.ts';
import { generateToken } from '../../core/people/token.ts';
import { deriveSealKey } from '../../core/seal.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import { reseal } from '../../flow/workspace/reseal.ts';
import type { Db } from '../../store/connection/database.ts';
import { storedSecret, syncDirectory } from '../../store/embedded/secret-file.ts';
import { readSecretLine } from '../client/input.ts';
import { print } from '../client/print.ts';
import type { Context } from '../command.ts';
import { openForServer } from './open-database.ts';

/**
 * Another secret, and all stored credentials sealed under it. Where Cueline keeps the secret itself, the data directory
 * must be in no other's hands, so that nothing is sealed under the old one meanwhile.
 */
export async function rotateSecret(
  context: Context,
  { newSecretStdin }: { newSecretStdin?: true },
): Promise<void> {
  const given = newSecretStdin ? await readSecret(context) : null;
  const { db, secret } = await openForServer(context, 'command');
  const count = keepsSecret(context)
    ? await rotateKept(db, context.config.dataDir, secret)
    : await rotateGiven(db, secret, given);
  const next = keepsSecret(context) ? '' : ' Start every process with the new secret.';
  console.error(`Credentials sealed anew: ${count}. Everyone is signed out.${next}`);
}

/**
 * Before a process serves: carries out what a rotation that was cut short had begun, and answers the secret of now.
 * Otherwise the credentials might be under one secret while the server has the other. Only with the data directory in
 * hand: the rotation may be another process's until then.
 */
export async function finishRotation(
  context: Context,
  { db, secret }: { readonly db: Db; readonly secret: string },
): Promise<string> {
  const { dataDir } = context.config;
  if (!keepsSecret(context) || !existsSync(join(dataDir, nextName))) return secret;
  await rotateKept(db, dataDir, secret);
  return storedSecret(dataDir, 'secret');
}

const nextName = 'secret.next';

function keepsSecret({ config }: Context): boolean {
  return config.databaseUrl === null && config.secret === null;
}

async function readSecret(context: Context): Promise<string> {
  if (keepsSecret(context)) {
    throw new StartupFailure('The secret in the data directory is made up: no other can be given.');
  }
  const secret = (await readSecretLine(context.life.ending)).trim();
  if (secretForm.accepts(secret)) return secret;
  throw new StartupFailure(`The new secret is not valid; expected ${secretForm.allowed}.`);
}

async function rotateGiven(db: Db, old: string, given: string | null): Promise<number> {
  const next = given ?? generateToken();
  // Shown before it is used: were it lost, so were all credentials.
  if (given === null) await print(next);
  return reseal(db, deriveSealKey(old), deriveSealKey(next));
}

/**
 * In an order that leaves both secrets on disk until the credentials are under the new one. `secret.next` says that a
 * rotation is under way; going on with it after a crash does no harm, wherever that was.
 */
async function rotateKept(db: Db, dataDir: string, old: string): Promise<number> {
  const path = join(dataDir, nextName);
  const resumed = existsSync(path);
  const next = await storedSecret(dataDir, nextName);
  const count = await reseal(db, deriveSealKey(old), deriveSealKey(next)).catch(async (error) => {
    // Refused, so nothing was changed: nothing is under way.
    if (error instanceof StartupFailure && !resumed) await rm(path);
    throw error;
  });
  await rename(path, join(dataDir, 'secret'));
  await syncDirectory(dataDir);
  return count;
}
