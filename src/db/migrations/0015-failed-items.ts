import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Which workflow runs have failed items, and what workflow runs and batches run again. A process of the previous version
 * writes none of these columns; the triggers mark its runs too.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    alter table workflow_runs
      -- Whether an item of a step has failed. Null: the run began before this column, and only its items tell.
      add has_failed_items boolean;
    alter table workflow_runs alter column has_failed_items set default false;
    create index workflow_runs_with_failed_items on workflow_runs (workflow_id, id) where has_failed_items is not false;

    -- An item fails under the lock of its run. Written once for each run: every write renews its index entries.
    create function mark_failed_items() returns trigger language plpgsql as $$
    begin
      update workflow_runs set has_failed_items = true where id = new.run_id and has_failed_items is not true;
      return null;
    end $$;
    create trigger workflow_steps_failed after insert or update on workflow_steps
      for each row when (new.item >= 0 and new.status = 'failed') execute function mark_failed_items();

    -- Runs of items of another run. A table of its own, because an index on that of all runs would be built under its lock.
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
