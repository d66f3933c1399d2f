import { type Kysely, sql } from 'kysely';

/** The runs of some versions of a workflow in order, for whoever may not see the others. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    create index workflow_runs_of_version_by_status on workflow_runs (workflow_version_id, trigger, status, id);
  `)
    .execute(db);
}
