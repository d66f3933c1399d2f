import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Outbound events: endpoints, events and their deliveries, and what must be reported only once. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    create table endpoints (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      -- Null: a pull endpoint. Its owner reads the events; nothing is sent.
      url text,
      event_types text[] not null check (cardinality(event_types) > 0),
      -- Null: all agents. Applies to events of executions and agents.
      agent_ids uuid[] check (cardinality(agent_ids) > 0),
      payload text not null check (payload in ('thin', 'full')),
      format text not null check (format in ('standard', 'slack')),
      description text,
      enabled boolean not null default true,
      disabled_because text check (disabled_because in ('owner', 'gone', 'failing', 'key_ended')),
      disabled_at timestamptz,
      -- Sealed, not hashed: signing needs it in clear. Both secrets sign until previous_until.
      sealed_secret bytea not null,
      previous_sealed_secret bytea,
      previous_until timestamptz,
      -- Null: it belongs to the workspace.
      created_by uuid references users on delete set null,
      -- The key that created it: the endpoint has the permissions that this key has now.
      api_key_id uuid references api_keys on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      -- Since the first failed attempt without a success after it.
      failing_since timestamptz,
      -- Exact to a minute: it is not written for every delivery.
      last_success_at timestamptz,
      -- A pull endpoint whose owner no longer reads is deleted.
      last_read_at timestamptz not null default clock_timestamp(),
      check (enabled = (disabled_because is null)),
      check (enabled = (disabled_at is null)),
      check ((previous_sealed_secret is null) = (previous_until is null))
    ) with (fillfactor = 70);
    create index endpoints_of_workspace on endpoints (workspace_id, id);
    create index endpoints_of_key on endpoints (api_key_id) where api_key_id is not null;

    -- Endpoints that receive events. One created by a key needs a live key with the permission own, issued by an owner.
    create view active_endpoints as
      select p.* from endpoints p
      where p.enabled and (p.api_key_id is null or exists (
        select from api_keys k
        join members m on m.workspace_id = k.workspace_id and m.user_id = k.issued_by and m.role = 'owner'
        where k.id = p.api_key_id and k.revoked_at is null and 'own' = any (k.permissions)
          and (k.expires_at is null or k.expires_at > clock_timestamp())));

    -- The sequence of the last event of a workspace. Its lock is held until the commit, so that events become visible in
    -- the order of their sequence and a reader that continues after one misses none. No row: never an endpoint.
    create table event_counters (
      workspace_id uuid primary key references workspaces on delete cascade,
      last bigint not null default 0
    ) with (fillfactor = 50);

    -- No foreign keys, as for executions: each would cost as much as the insert.
    create table events (
      id uuid primary key,
      workspace_id uuid not null,
      sequence bigint not null,
      type text not null,
      at timestamptz not null,
      -- What it is about: an execution, workflow run, agent, key, endpoint, batch or alert.
      subject uuid,
      agent_id uuid,
      end_user text,
      -- Without the sequence.
      data json not null
    );
    create unique index events_of_workspace on events (workspace_id, sequence);
    create index events_of_subject on events (subject) where subject is not null;
    create index events_of_user on events (workspace_id, end_user) where end_user is not null;

    -- One row per event and endpoint that it is sent to.
    create table deliveries (
      endpoint_id uuid not null,
      event_id uuid not null,
      type text not null,
      state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
      -- The next attempt, while pending.
      due_at timestamptz not null,
      -- Attempts since the event, or since it was sent again.
      tries smallint not null default 0,
      -- [{at, status, answer, error}], oldest first.
      attempts jsonb not null default '[]',
      primary key (endpoint_id, event_id)
    ) with (fillfactor = 80);
    create index deliveries_due on deliveries (endpoint_id, due_at) where state = 'pending';

    -- Which worker sends to an endpoint. Its lease is the lease of the worker.
    create table endpoint_senders (
      endpoint_id uuid primary key references endpoints on delete cascade,
      worker uuid not null
    );
    create index endpoint_senders_of_worker on endpoint_senders (worker);

    -- Alerts about the calls of a window of minutes (core/event/alert.ts).
    create table alerts (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      metric text not null
        check (metric in ('failureRate', 'count', 'p50', 'p95', 'costUSD', 'costUnknown', 'quotaUsed', 'queueAge')),
      -- Null: all agents.
      agent_ids uuid[] check (cardinality(agent_ids) > 0),
      tag text,
      threshold double precision not null,
      clear_threshold double precision not null,
      window_minutes smallint not null check (window_minutes between 1 and 1440),
      min_count integer not null,
      no_data text not null check (no_data in ('keep', 'zero', 'fire')),
      state text not null default 'no_data' check (state in ('ok', 'firing', 'no_data')),
      state_since timestamptz not null default clock_timestamp(),
      -- The last value, and the end of its window. Null: to be evaluated at once.
      value double precision,
      evaluated_to timestamptz,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      check (clear_threshold <= threshold)
    ) with (fillfactor = 70);
    create index alerts_of_workspace on alerts (workspace_id, id);
    create index alerts_due on alerts (evaluated_to nulls first);

    -- E-mail to send, written in the transaction of what it reports.
    create table mails (
      id uuid primary key default gen_random_uuid(),
      recipient text not null,
      subject text not null,
      body text not null,
      tries smallint not null default 0,
      due_at timestamptz not null default clock_timestamp()
    );
    create index mails_due on mails (due_at);

    -- Providers whose failure was reported, until their recovery is.
    create table failing_providers (
      workspace_id uuid not null references workspaces on delete cascade,
      provider text not null,
      model text not null,
      since timestamptz not null default clock_timestamp(),
      primary key (workspace_id, provider, model)
    );

    -- Shares of the quota (in percent) that were reported in a month.
    create table quota_reports (
      workspace_id uuid not null references workspaces on delete cascade,
      month integer not null,
      percent smallint not null,
      primary key (workspace_id, month, percent)
    );
  `)
    .execute(db);
}
