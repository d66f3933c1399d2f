import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Keeps the windows of workflow runs from maintenance of the previous version, which deletes whatever has no budget: a worker of that
 * version that has lost its lease, or gives it up as it drains, still maintains while runs with a limit start. The limit would begin anew.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    create function keep_run_window() returns trigger language plpgsql as $$
    begin
      if exists (select from workflow_runs r where r.id = old.budget_id
        and (r.completed_at is null or exists (select from execution_queue q where q.workflow_run_id = r.id))) then
        return null;
      end if;
      return old;
    end $$;
    create trigger run_windows_are_kept before delete on budget_windows for each row execute function keep_run_window();
  `)
    .execute(db);
}
