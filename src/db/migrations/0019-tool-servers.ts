import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * Servers of tools that the service executes, their definitions, and which versions of prompts use them. A process of the previous
 * version knows none of it.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    create table tool_servers (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      -- Versions name their server by it; what they froze refers to the id.
      name text not null check (name ~ '^[a-z0-9_-]{1,64}$'),
      kind text not null check (kind in ('http', 'mcp', 'callback')),
      url text check ((url is null) = (kind = 'callback')),
      -- Values of headers are sealed as one text; their names may be shown.
      header_names text[] not null default '{}',
      sealed_headers bytea check ((sealed_headers is null) = (cardinality(header_names) = 0)),
      -- Sealed, not hashed: signing needs it in clear. Both secrets sign until previous_until.
      sealed_secret bytea not null,
      previous_sealed_secret bytea,
      previous_until timestamptz check ((previous_sealed_secret is null) = (previous_until is null)),
      timeout_ms integer not null check (timeout_ms between 1000 and 300000),
      max_concurrency integer not null check (max_concurrency between 1 and 200),
      enabled boolean not null default true,
      revision integer not null default 1,
      -- The last check, and what it found; null if nothing is wrong.
      checked_at timestamptz,
      problem text,
      created_by uuid references users on delete set null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      unique (workspace_id, name)
    );

    -- The tools of a server today. Versions have copies.
    create table tool_catalog (
      server_id uuid not null references tool_servers on delete cascade,
      name text not null,
      -- As the server or its owner lists them.
      position integer not null,
      -- JSON, because a model sees the order of names.
      definition json not null,
      digest text not null check (digest ~ '^[0-9a-f]{64}$'),
      -- Declared ones are always current; what a check finds is not.
      state text not null default 'current' check (state in ('current', 'new', 'changed', 'gone')),
      seen_at timestamptz not null default clock_timestamp(),
      primary key (server_id, name)
    );

    create table version_tool_servers (
      prompt_version_id uuid not null references prompt_versions on delete cascade,
      server_id uuid not null references tool_servers on delete cascade,
      primary key (prompt_version_id, server_id)
    );
    create index version_tool_servers_of_server on version_tool_servers (server_id);
  `)
    .execute(db);
}
