import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Users and sign-ins (the four tables that better-auth reads and writes), workspaces, members, invitations. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    create table users (
      id uuid primary key,
      name text not null,
      email text not null unique check (email = lower(email)),
      email_verified boolean not null default false,
      image text,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );

    create table sessions (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      token text not null unique,
      expires_at timestamptz not null,
      ip_address text,
      user_agent text,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );
    create index sessions_of_user on sessions (user_id);

    create table accounts (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      account_id text not null,
      provider_id text not null,
      access_token text,
      refresh_token text,
      id_token text,
      access_token_expires_at timestamptz,
      refresh_token_expires_at timestamptz,
      scope text,
      password text,
      -- The hash of the generated password; equal to password until the user chooses another.
      generated_password text,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      unique (provider_id, account_id)
    );
    create index accounts_of_user on accounts (user_id);

    create table verifications (
      id uuid primary key,
      identifier text not null,
      value text not null,
      expires_at timestamptz not null,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp()
    );
    create index verifications_of_identifier on verifications (identifier);

    -- Sign-in attempts by address and path.
    create table sign_in_attempts (
      id uuid primary key,
      key text not null unique,
      count integer not null,
      last_request bigint not null
    );
    create index sign_in_attempts_by_time on sign_in_attempts (last_request);

    create table workspaces (
      id uuid primary key,
      name text not null,
      plan_name text not null default 'self-hosted',
      actions_per_month bigint check (actions_per_month >= 0),
      -- Days that records and their bodies (variables, prompts, output) are kept. Null: for ever; for bodies: as long as
      -- their record.
      records_days integer default 90 check (records_days between 1 and 36500),
      bodies_days integer check (bodies_days between 1 and 36500),
      created_at timestamptz not null default clock_timestamp()
    );

    create table members (
      workspace_id uuid not null references workspaces on delete cascade,
      user_id uuid not null references users on delete cascade,
      role text not null check (role in ('owner', 'editor', 'viewer')),
      created_at timestamptz not null default clock_timestamp(),
      primary key (workspace_id, user_id)
    );
    create index members_of_user on members (user_id, created_at);

    -- Saved views of executions: filters as a query string.
    create table saved_views (
      id uuid primary key,
      workspace_id uuid not null,
      user_id uuid not null,
      name text not null,
      search text not null,
      created_at timestamptz not null default clock_timestamp(),
      foreign key (workspace_id, user_id) references members on delete cascade,
      unique (workspace_id, user_id, name)
    );

    -- Notices of the dashboard that a member has dismissed, for good or until then.
    create table dismissals (
      workspace_id uuid not null,
      user_id uuid not null,
      notice text not null,
      until timestamptz,
      primary key (workspace_id, user_id, notice),
      foreign key (workspace_id, user_id) references members on delete cascade
    );

    create table invitations (
      id uuid primary key,
      workspace_id uuid not null references workspaces on delete cascade,
      email text not null check (email = lower(email)),
      role text not null check (role in ('owner', 'editor', 'viewer')),
      token_hash bytea not null unique,
      invited_by uuid references users on delete set null,
      -- The key that invited; the invitation ends with it. Keys are never deleted before their workspace.
      api_key_id uuid,
      created_at timestamptz not null default clock_timestamp(),
      expires_at timestamptz not null,
      accepted_at timestamptz
    );
    create index invitations_of_workspace on invitations (workspace_id, created_at);
  `)
    .execute(db);
}
