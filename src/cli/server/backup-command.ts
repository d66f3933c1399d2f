import { resolve } from 'node:path';
import { StartupFailure } from '../../core/startup-failure.ts';
import type { Context } from '../command.ts';
import { openForCommand } from './open-database.ts';

/** Backs up the embedded database, and restores it. */

export async function backup(context: Context, file: string): Promise<void> {
  refuseOtherDatabase(context, 'pg_dump');
  const { connection } = await openForCommand(context);
  const { dataDir, secret } = context.config;
  const { writeBackup } = await import('../../db/embedded/backup.ts');
  await writeBackup(dataDir, connection, file);
  console.error(
    secret === null
      ? `Backed up ${resolve(dataDir)} with its secret: keep ${file} like a password.`
      : `Backed up ${resolve(dataDir)}. The secret is not in ${file}: keep CUELINE_SECRET.`,
  );
}

export async function restore(context: Context, file: string): Promise<void> {
  refuseOtherDatabase(context, 'pg_restore');
  const { restoreBackup } = await import('../../db/embedded/backup.ts');
  await restoreBackup(context.config.dataDir, file);
  // Replays the log of the backup, which shows that it can be used.
  await openForCommand(context);
  console.error(
    `Restored ${resolve(context.config.dataDir)}. What was unfinished goes on with the next start.`,
  );
}

function refuseOtherDatabase({ config }: Context, program: string): void {
  if (config.databaseUrl === null) return;
  throw new StartupFailure(
    `DATABASE_URL is set, and this command is for the embedded database: use ${program} of your PostgreSQL.`,
  );
}
