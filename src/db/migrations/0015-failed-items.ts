import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Which workflow runs have failed items, and what workflow runs and batches run again. A process of the previous version
 * writes none of it; the trigger marks its runs too.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- Runs in which an item of a step has failed. Like the next one a table of its own, because a column or an index of all
    -- runs would be added under their lock. Runs from before it are not in it.
    create table runs_with_failed_items (
      run_id uuid primary key references workflow_runs on delete cascade,
      workflow_id uuid not null
    );
    create index runs_with_failed_items_of_workflow on runs_with_failed_items (workflow_id, run_id);

    -- An item fails under the lock of its run.
    create function mark_failed_items() returns trigger language plpgsql as $$
    begin
      insert into runs_with_failed_items (run_id, workflow_id)
      select id, workflow_id from workflow_runs where id = new.run_id on conflict do nothing;
      return null;
    end $$;
    create trigger workflow_steps_failed after insert or update on workflow_steps
      for each row when (new.item >= 0 and new.status = 'failed') execute function mark_failed_items();

    -- Runs of items of another run.
    create table workflow_reruns (
      run_id uuid primary key references workflow_runs on delete cascade,
      -- The run whose items it runs again. It may have been deleted.
      rerun_of uuid not null,
      step text not null,
      -- Their indexes in the list of the step, as the first run of all had it.
      items integer[] not null
    );
    create index workflow_reruns_of on workflow_reruns (rerun_of);

    alter table batches
      -- As the client names its file; null if it does not.
      add file_name text,
      -- The batch whose failed lines this one runs again. It may have been deleted.
      add rerun_of uuid;
  `)
    .execute(db);
}
