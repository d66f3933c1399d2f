import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Workflows and their immutable versions, pins, workflow runs and their steps, schedules, webhooks. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    create table workflows (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      description text,
      -- False: no new runs start; runs in progress continue.
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
      -- json, not jsonb: the model reads the names of a variable in the order they were written.
      definition json not null,
      -- Every agent it names: a caller who cannot see all of them cannot see the workflow.
      agent_ids uuid[] not null default '{}',
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      unique (workflow_id, number),
      unique (workflow_id, label)
    );
    create trigger workflow_versions_immutable before update on workflow_versions
      for each row execute function refuse_version_change();

    -- History of pinned versions; the newest is in force.
    create table workflow_pins (
      id uuid primary key,
      workflow_id uuid not null references workflows on delete cascade,
      workflow_version_id uuid not null references workflow_versions,
      pinned_at timestamptz not null default clock_timestamp(),
      pinned_by uuid references users on delete set null
    );
    create index workflow_pins_of_workflow on workflow_pins (workflow_id, id);
    alter table workflows add column workflow_version_id uuid references workflow_versions;

    -- The row is the lock under which a workflow run advances.
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
      -- Who it is for ({user, session, tags, metadata}); the executions of its steps inherit it.
      labels json,
      -- Null once bodies are removed; transient runs lose it at their end.
      input json,
      output json,
      -- transient: an agent of it stores no bodies, so the output is kept for a while only. removed: output is gone too.
      bodies text not null default 'stored' check (bodies in ('stored', 'transient', 'removed')),
      error_code text,
      error text,
      failed_step text,
      check (input is not null or bodies = 'removed' or (bodies = 'transient' and status <> 'processing')),
      check (bodies <> 'removed' or (input is null and output is null and status <> 'processing')),
      check ((status = 'processing') = (completed_at is null)),
      check ((status in ('processing', 'success')) = (error_code is null)),
      check ((error is null) = (error_code is null))
    );
    create index workflow_runs_of_workflow on workflow_runs (workflow_id, id);
    create index workflow_runs_by_status on workflow_runs (workflow_id, status, id);
    create index workflow_runs_by_trigger on workflow_runs (workflow_id, trigger, id);
    create index workflow_runs_of_workspace on workflow_runs (workspace_id, id);
    create index workflow_runs_due on workflow_runs (deadline_at) where status = 'processing';
    -- Retention of a workflow run follows from the agents of its version.
    create index workflow_runs_of_version on workflow_runs (workflow_version_id, bodies, id);
    create index workflow_runs_of_version_by_status on workflow_runs (workflow_version_id, trigger, status, id);
    create index workflow_runs_transient on workflow_runs (completed_at) where bodies = 'transient';

    -- A step has no row until it is decided. item is -1, except for the items of a step that fans out.
    create table workflow_steps (
      run_id uuid not null references workflow_runs on delete cascade,
      step text not null,
      item integer not null default -1 check (item >= -1),
      status text not null
        check (status in ('ready', 'processing', 'success', 'failed', 'skipped', 'canceled', 'canceling')),
      -- ready: when any worker may take it. canceling: when any worker may cancel its execution.
      ready_at timestamptz,
      -- The call to make, while the step is ready.
      variables text,
      agent_id uuid,
      execution_id uuid,
      -- Whether the fallback took over, and the execution that failed before it.
      fallback boolean not null default false,
      failed_execution_id uuid,
      -- The list of a step that fans out and its length, and the output that later steps refer to (model text as a JSON
      -- string). items and output are null once the run has ended.
      items json,
      items_count integer check (items_count between 0 and 1000),
      output json,
      error_code text,
      error text,
      started_at timestamptz,
      completed_at timestamptz,
      -- Items come last in the key: the steps of a run are read without them.
      primary key (run_id, item, step),
      check ((status in ('ready', 'canceling')) = (ready_at is not null)),
      check ((status = 'ready') = (variables is not null)),
      check (status <> 'ready' or agent_id is not null)
    ) with (fillfactor = 70);
    create index workflow_steps_due on workflow_steps (agent_id, ready_at) where status = 'ready';
    create index workflow_steps_stopping on workflow_steps (ready_at) where status = 'canceling';

    create table workflow_schedules (
      id uuid primary key,
      workflow_id uuid not null references workflows on delete cascade,
      workspace_id uuid not null references workspaces on delete cascade,
      cron text not null,
      time_zone text not null,
      -- Ticks missed while no process ran: skip them, or start one run for all of them.
      missed text not null check (missed in ('skip', 'once')),
      input json not null,
      -- The labels of its workflow runs.
      labels json,
      enabled boolean not null default true,
      revision integer not null default 1,
      -- Null while disabled, or if no tick will ever come.
      next_at timestamptz,
      last_at timestamptz,
      -- Why the last tick started no run ({at, code, message}); null if it did.
      last_error json,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      check (next_at is null or enabled)
    );
    create index workflow_schedules_of_workflow on workflow_schedules (workflow_id, id);
    create index workflow_schedules_due on workflow_schedules (next_at) where next_at is not null;

    -- The secret is sealed, not hashed: verification needs it in clear.
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

    -- Workflow runs that the value reached, until they and all their executions are deleted. No reference to the run:
    -- retention may delete it first.
    create table erasure_workflow_runs (
      erasure_id uuid not null references erasures on delete cascade,
      run_id uuid not null,
      primary key (erasure_id, run_id)
    );
  `)
    .execute(db);
}
