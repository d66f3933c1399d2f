import { type Kysely, sql } from 'kysely';

/** Workflows and their immutable versions, the runs of them, and where each step of a run stands. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql
    .raw(`
    create table workflows (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      description text,
      -- Off: nothing starts a run of it any more; those under way go on.
      enabled boolean not null default true,
      revision integer not null default 1,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      deleted_at timestamptz
    );
    create unique index workflows_by_name on workflows (workspace_id, name) where deleted_at is null;

    create table workflow_versions (
      id uuid primary key,
      workflow_id uuid not null references workflows on delete cascade,
      workspace_id uuid not null references workspaces on delete cascade,
      number integer not null check (number >= 1),
      label text not null,
      notes text,
      definition jsonb not null,
      -- Every agent that it names: who does not see them all does not see the workflow.
      agent_ids uuid[] not null default '{}',
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      unique (workflow_id, number),
      unique (workflow_id, label)
    );
    create trigger workflow_versions_immutable before update on workflow_versions
      for each row execute function refuse_version_change();

    -- Newest first in force, as the pins of an agent.
    create table workflow_pins (
      id uuid primary key,
      workflow_id uuid not null references workflows on delete cascade,
      workflow_version_id uuid not null references workflow_versions,
      pinned_at timestamptz not null default clock_timestamp(),
      pinned_by uuid references users on delete set null
    );
    create index workflow_pins_of_workflow on workflow_pins (workflow_id, id);
    alter table workflows add column workflow_version_id uuid references workflow_versions;

    -- The row is the lock under which a run advances.
    create table workflow_runs (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      workflow_id uuid not null references workflows on delete cascade,
      workflow_version_id uuid not null references workflow_versions,
      trigger text not null check (trigger in ('api', 'dashboard', 'schedule', 'webhook')),
      status text not null check (status in ('processing', 'success', 'failed', 'canceled')),
      api_key_id uuid,
      executed_by uuid,
      executed_at timestamptz not null,
      completed_at timestamptz,
      deadline_at timestamptz not null,
      -- Null once the bodies have gone, and of brief ones from the end on.
      input json,
      output json,
      -- Brief: an agent of it stores none, so the output stays but a while. Gone: so is the output.
      bodies text not null default 'kept' check (bodies in ('kept', 'brief', 'gone')),
      error_code text,
      error text,
      failed_step text,
      check (input is not null or bodies = 'gone' or (bodies = 'brief' and status <> 'processing')),
      check (bodies <> 'gone' or (input is null and output is null and status <> 'processing')),
      check ((status = 'processing') = (completed_at is null)),
      check ((status in ('processing', 'success')) = (error_code is null)),
      check ((error is null) = (error_code is null))
    );
    create index workflow_runs_of_workflow on workflow_runs (workflow_id, id);
    create index workflow_runs_by_status on workflow_runs (workflow_id, status, id);
    create index workflow_runs_by_trigger on workflow_runs (workflow_id, trigger, id);
    create index workflow_runs_of_workspace on workflow_runs (workspace_id, id);
    create index workflow_runs_due on workflow_runs (deadline_at) where status = 'processing';
    -- How long a run and its bodies are kept follows from the agents of its version.
    create index workflow_runs_of_version on workflow_runs (workflow_version_id, bodies, id);
    create index workflow_runs_brief on workflow_runs (completed_at) where bodies = 'brief';

    -- A step that nobody has thought of yet has no row. item is -1, but for the items of a step that fans out.
    create table workflow_steps (
      run_id uuid not null references workflow_runs on delete cascade,
      step text not null,
      item integer not null default -1 check (item >= -1),
      status text not null
        check (status in ('ready', 'processing', 'success', 'failed', 'skipped', 'canceled', 'canceling')),
      -- Ready: when anyone may take it. Canceling: when anyone may stop its execution.
      ready_at timestamptz,
      -- What its execution is called with, while it is ready, and whom.
      variables text,
      agent_id uuid,
      execution_id uuid,
      -- Whether its fallback has taken over, and the execution that failed before.
      fallback boolean not null default false,
      failed_execution_id uuid,
      -- The list of a step that fans out and its length, and what later steps may refer to, a text of a model being a
      -- string: list and output are gone once the run has ended.
      items json,
      items_count integer check (items_count between 0 and 1000),
      output json,
      error_code text,
      error text,
      started_at timestamptz,
      completed_at timestamptz,
      -- The items last: what a run is made of is read without them.
      primary key (run_id, item, step),
      check ((status in ('ready', 'canceling')) = (ready_at is not null)),
      check ((status = 'ready') = (variables is not null)),
      check (status <> 'ready' or agent_id is not null)
    ) with (fillfactor = 70);
    create index workflow_steps_due on workflow_steps (agent_id, ready_at) where status = 'ready';
    create index workflow_steps_stopping on workflow_steps (ready_at) where status = 'canceling';

    create table workflow_idempotency (
      caller uuid not null,
      workflow_id uuid not null references workflows on delete cascade,
      key text not null,
      digest bytea not null,
      run_id uuid not null references workflow_runs on delete cascade,
      ignored_input text[] not null default '{}',
      created_at timestamptz not null,
      primary key (caller, workflow_id, key)
    );
    create index workflow_idempotency_of_run on workflow_idempotency (run_id);
    create index workflow_idempotency_by_age on workflow_idempotency (created_at);

    create table workflow_schedules (
      id uuid primary key,
      workflow_id uuid not null references workflows on delete cascade,
      workspace_id uuid not null references workspaces on delete cascade,
      cron text not null,
      time_zone text not null,
      -- What becomes of ticks that no process was there for: nothing, or one run for all of them.
      missed text not null check (missed in ('skip', 'once')),
      input json not null,
      enabled boolean not null default true,
      revision integer not null default 1,
      -- Null while it is off, or where no tick will ever come.
      next_at timestamptz,
      last_at timestamptz,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      check (next_at is null or enabled)
    );
    create index workflow_schedules_of_workflow on workflow_schedules (workflow_id, id);
    create index workflow_schedules_due on workflow_schedules (next_at) where next_at is not null;

    -- The secret is sealed: what signs must be known in clear to verify.
    create table workflow_webhooks (
      id uuid primary key,
      workflow_id uuid not null references workflows on delete cascade,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      sealed_secret bytea not null,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp()
    );
    create index workflow_webhooks_of_workflow on workflow_webhooks (workflow_id, id);

    -- Runs from here on have been looked at for the end user of an erasure, as its records are by down_to.
    alter table erasures add column runs_down_to uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    -- Runs whose input names them, until they are gone.
    create table erasure_workflow_runs (
      erasure_id uuid not null references erasures on delete cascade,
      run_id uuid not null references workflow_runs on delete cascade,
      primary key (erasure_id, run_id)
    );
    create index erasure_workflow_runs_of_run on erasure_workflow_runs (run_id);

    alter table executions add column workflow_run_id uuid, add column step_name text;
    -- Not valid: the columns are new, so there is nothing to look for in the records of years.
    alter table executions add constraint executions_of_step
      check ((workflow_run_id is null) = (step_name is null)) not valid;
  `)
    .execute(db);
}
