import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Prompts and their immutable versions, agents and their pins, API keys, limit counters, providers, prices, audit. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    create table prompts (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      description text,
      -- The service makes new prompts private unless specified otherwise.
      visibility text not null default 'public' check (visibility in ('private', 'public')),
      revision integer not null default 1,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      archived_at timestamptz
    );
    create index prompts_of_workspace on prompts (workspace_id, id);

    create table prompt_versions (
      id uuid primary key,
      prompt_id uuid not null references prompts on delete cascade,
      workspace_id uuid not null references workspaces on delete cascade,
      number integer not null check (number >= 1),
      label text not null,
      system_template text,
      -- Null if there are messages.
      user_template text,
      -- Messages and tools, if there are any.
      content json,
      variables text[] not null,
      -- Variables whose values are lists of messages.
      message_lists text[] not null default '{}',
      -- Variables whose values are images or files, each with its kind.
      file_variables jsonb not null default '{}',
      model text,
      temperature double precision,
      max_tokens integer,
      top_p double precision,
      -- JSON, because the order of names is part of it.
      response_format json,
      variable_schemas json,
      -- The rarely used settings of a call.
      settings jsonb not null default '{}',
      notes text,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      unique (prompt_id, number),
      unique (prompt_id, label)
    );

    -- A version is immutable: an agent executes the text that was pinned. Only its author may be cleared.
    create function refuse_version_change() returns trigger language plpgsql as $$
    begin
      if to_jsonb(new) - 'created_by' is distinct from to_jsonb(old) - 'created_by'
         or (new.created_by is distinct from old.created_by and new.created_by is not null) then
        raise exception 'a prompt version is immutable' using errcode = 'restrict_violation';
      end if;
      return new;
    end $$;
    create trigger prompt_versions_immutable before update on prompt_versions
      for each row execute function refuse_version_change();

    create table agents (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      prompt_id uuid not null references prompts,
      prompt_version_id uuid not null references prompt_versions,
      config jsonb not null,
      required_variables text[] not null,
      optional_variables text[] not null,
      default_variable_values json not null,
      stage text not null default 'Draft' check (stage in ('Draft', 'Testing', 'Deployed', 'Paused')),
      api_enabled boolean not null default false,
      visibility text not null default 'private' check (visibility in ('private', 'public')),
      requests_per_minute integer,
      requests_per_hour integer,
      requests_per_day integer,
      project text,
      category text,
      tags text[] not null default '{}',
      description text,
      allowed_origins text[] not null default '{}',
      -- Null: the workspace's retention applies.
      records_days integer check (records_days between 1 and 36500),
      bodies_days integer check (bodies_days between 1 and 36500),
      store_bodies boolean not null default true,
      -- Whether callers of the OpenAI API may add instructions and function tools.
      allow_instructions boolean not null default false,
      allow_tools boolean not null default false,
      revision integer not null default 1,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      archived_at timestamptz,
      deleted_at timestamptz,
      check (not api_enabled or stage in ('Testing', 'Deployed')),
      check (archived_at is null or stage <> 'Deployed'),
      check (deleted_at is null or stage in ('Testing', 'Paused'))
    );
    create index agents_of_workspace on agents (workspace_id, id) where deleted_at is null;

    -- subject is an agent or a workflow that is not deleted.
    create table slugs (
      workspace_id uuid not null references workspaces on delete cascade,
      slug text not null check (slug ~ '^[a-z0-9_-]{1,64}$'),
      subject uuid not null unique,
      primary key (workspace_id, slug)
    );

    create table pins (
      id uuid primary key,
      agent_id uuid not null references agents on delete cascade,
      prompt_version_id uuid not null references prompt_versions,
      pinned_at timestamptz not null default clock_timestamp(),
      pinned_by uuid references users on delete set null
    );
    create index pins_of_agent on pins (agent_id, id);

    create table api_keys (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      hash bytea not null unique,
      start text not null,
      permissions text[] not null
        check (permissions <@ array['execute', 'read', 'cancel', 'manage', 'own'] and cardinality(permissions) > 0),
      all_agents boolean not null check (all_agents or not 'own' = any (permissions)),
      requests_per_minute integer,
      requests_per_hour integer,
      requests_per_day integer,
      allowed_origins text[] not null default '{}',
      issued_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      -- When its coming expiry was reported.
      expiry_reported_at timestamptz,
      -- The keys that issued it, nearest first.
      issuing_keys uuid[] not null default '{}',
      -- The rows of limits that its calls count for: its own, then those of its issuing keys. A rotated key keeps its own.
      limit_subjects uuid[] not null check (cardinality(limit_subjects) = cardinality(issuing_keys) + 1)
    );
    create index api_keys_of_workspace on api_keys (workspace_id, id);
    create index api_keys_of_issuer on api_keys (issued_by);

    create table api_key_agents (
      api_key_id uuid not null references api_keys on delete cascade,
      agent_id uuid not null references agents on delete cascade,
      primary key (api_key_id, agent_id)
    );
    create index api_key_agents_of_agent on api_key_agents (agent_id);

    -- One row per key, agent and workspace: the calls admitted in its current windows. The row is the lock that admission,
    -- revoking, pausing and every change of a limit take first: keys, then agents, then workspaces.
    create table limits (
      subject uuid primary key,
      minute bigint not null default 0,
      minute_used integer not null default 0,
      hour bigint not null default 0,
      hour_used integer not null default 0,
      day bigint not null default 0,
      day_used integer not null default 0,
      month integer not null default 0,
      month_used bigint not null default 0
    ) with (fillfactor = 50);

    -- Refusals recorded this hour per caller, agent and status; caps the records that refused calls can create.
    create table refusals (
      caller uuid not null,
      agent_id uuid not null references agents on delete cascade,
      status text not null,
      hour bigint not null,
      recorded integer not null,
      primary key (caller, agent_id, status)
    ) with (fillfactor = 50);

    create table providers (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      name text not null,
      kind text not null,
      sealed_api_key bytea,
      base_url text,
      -- Headers, query and further body fields of each request, sealed as JSON; their names may be shown.
      sealed_extras bytea,
      header_names text[] not null default '{}',
      query_names text[] not null default '{}',
      body_extra_names text[] not null default '{}',
      organization text,
      project text,
      auth text check (auth in ('chain')),
      revision integer not null default 1,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      unique (workspace_id, name)
    );

    create table prices (
      workspace_id uuid not null references workspaces on delete cascade,
      model text not null,
      input_per_million numeric not null check (input_per_million >= 0),
      output_per_million numeric not null check (output_per_million >= 0),
      cache_read_per_million numeric check (cache_read_per_million >= 0),
      cache_write_per_million numeric check (cache_write_per_million >= 0),
      updated_at timestamptz not null default clock_timestamp(),
      primary key (workspace_id, model)
    );
    -- Who changed what. subject is the wire id of the object.
    create table audit (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      at timestamptz not null default clock_timestamp(),
      user_id uuid,
      api_key_id uuid,
      action text not null,
      subject text not null,
      details json not null default '{}',
      -- Addresses of people, merged into the details while they are kept.
      personal jsonb
    );
    create index audit_of_workspace on audit (workspace_id, id desc);
    create index audit_personal on audit (at) where personal is not null;
  `)
    .execute(db);
}
