import type { Context } from '../command.ts';
import { migrateAt, openForCommand, waitingFor } from './open-database.ts';

/** `cueline migrate`: the schema, and nothing else. */
export async function migrate(context: Context): Promise<void> {
  const { connection, place } = await openForCommand(context);
  await migrateAt(connection, waitingFor(context));
  console.log(`The schema in ${place} is up to date.`);
}
