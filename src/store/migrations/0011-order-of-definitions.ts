import { type Kysely, sql } from 'kysely';

/**
 * Definitions as they were written, letter by letter: `jsonb` puts names in an order of its own, and the order of the names
 * within a variable is what the model reads. Rewrites the versions of workflows, which nobody reads meanwhile.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw('alter table workflow_versions alter column definition type json using definition::json')
    .execute(db);
}
