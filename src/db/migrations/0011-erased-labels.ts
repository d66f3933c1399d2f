import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Erasures by tag and by value of the metadata, what they reach of live executions, and how many mails a workspace sent. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- A process of an earlier version would take an erasure by label for one by user. It sees only the others, in the view.
    alter table erasures rename to erasure_requests;
    alter table erasure_requests
      -- With value: a tag, or a value of the metadata by its name.
      add label text check (label in ('tag', 'metadata')),
      add label_name text,
      -- Lines of batches with this id or a later one, and events from this sequence on, have been scanned; null: none.
      add lines_down_to uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
      add events_down_to bigint,
      add check (label is null or variable is null),
      add check ((label_name is null) = (label is distinct from 'metadata'));
    create view erasures as
      select id, workspace_id, agent_id, variable, value, requested_by, requested_at, down_to, workflow_runs_down_to,
        deleted, schedules, completed_at
      from erasure_requests where label is null;

    -- Whether an execution or a run waits for its end to be erased.
    create index erasure_executions_of_execution on erasure_executions (execution_id);
    create index erasure_workflow_runs_of_run on erasure_workflow_runs (run_id);
    -- True once an erasure has reached it: it has lost its labels but tags, and its event names nobody.
    alter table execution_queue add erased boolean;
    -- True once its event has been erased: no answer to it is stored.
    alter table deliveries add erased boolean;

    -- Mails of a workspace on a day (UTC), without resets of passwords.
    create table mail_counts (
      workspace_id uuid primary key references workspaces on delete cascade,
      day date not null,
      sent integer not null
    ) with (fillfactor = 50);
  `)
    .execute(db);
}
