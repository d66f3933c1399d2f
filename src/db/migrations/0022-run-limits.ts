import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Limits of the cost of workflow runs. A worker of the previous version would call models beside them, so no such worker runs
 * while a run or a schedule has one. A step that another process of that version admits has nothing reserved, and the worker
 * reserves it before its first call.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    alter table workflow_runs
      -- In US dollars, of the executions of all its steps together. It is a budget with the id of the run and one window.
      add max_cost_usd numeric,
      -- Not validated: no row has a value.
      add check (max_cost_usd > 0) not valid;
    alter table workflow_schedules
      -- Of each of its runs.
      add max_cost_usd numeric check (max_cost_usd > 0);

    -- Whether the worker keeps them.
    alter table workers add keeps_run_limits boolean not null default false;
    -- The lock lets neither slip in while the other is being inserted. Runs do not wait for each other.
    create function refuse_workers_beside_run_limits() returns trigger language plpgsql as $$
    begin
      if tg_table_name = 'workers' then
        perform pg_advisory_xact_lock(${runLimitsLock});
        if exists (select from workflow_runs where status = 'processing' and max_cost_usd is not null)
          or exists (select from execution_queue q join workflow_runs r on r.id = q.workflow_run_id
            where r.max_cost_usd is not null)
          or exists (select from workflow_schedules where max_cost_usd is not null) then
          raise exception 'A worker of an earlier version does not keep limits of workflow runs: stop it.'
            using errcode = '55000';
        end if;
      else
        perform pg_advisory_xact_lock_shared(${runLimitsLock});
        if exists (select from workers where not keeps_run_limits) then
          raise exception 'Workers of an earlier version are still running: they do not keep limits of workflow runs.'
            using errcode = '55000';
        end if;
      end if;
      return new;
    end $$;
    create trigger workers_keep_run_limits before insert on workers
      for each row when (not new.keeps_run_limits) execute function refuse_workers_beside_run_limits();
    create trigger workflow_run_limits_are_kept before insert on workflow_runs
      for each row when (new.max_cost_usd is not null) execute function refuse_workers_beside_run_limits();
    create trigger workflow_schedule_limits_are_kept before insert or update of max_cost_usd on workflow_schedules
      for each row when (new.max_cost_usd is not null) execute function refuse_workers_beside_run_limits();
  `)
    .execute(db);
}

/** Advisory lock: of limits of workflow runs, and of workers that keep none. */
const runLimitsLock = 7_315_202_622;
