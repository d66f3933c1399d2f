import { migrate as migrateSchema } from '../store/migrate.ts';
import type { Context } from './command.ts';
import { openForCommand } from './database.ts';

/** `cueline migrate`: the schema, and nothing else. */
export async function migrate(context: Context): Promise<void> {
  const { db, place } = await openForCommand(context);
  await migrateSchema(db);
  console.log(`The schema in ${place} is up to date.`);
}
