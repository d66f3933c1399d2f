import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/** Counts of refusals without a record, webhooks signed as other services do, and drafts that a playground executes. */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- Refused calls of known keys that leave no record, or not always one. A process of the previous version counts none.
    create table refusal_counts (
      agent_id uuid not null references agents on delete cascade,
      api_key_id uuid not null,
      code text not null,
      day date not null,
      refused bigint not null,
      -- Without anything that a caller sent.
      last_message text not null,
      last_at timestamptz not null,
      primary key (agent_id, api_key_id, code, day)
    ) with (fillfactor = 50);
    create index refusal_counts_of_key on refusal_counts (api_key_id);
    create index refusal_counts_by_day on refusal_counts (day);

    -- A process of the previous version checks every event as 'standard', so that it rejects those of other services.
    alter table workflow_webhooks add signature text not null default 'standard'
      check (signature in ('standard', 'github', 'stripe', 'slack'));

    -- The last events that a webhook received or rejected, without their bodies.
    create table webhook_log (
      id uuid primary key,
      webhook_id uuid not null references workflow_webhooks on delete cascade,
      received_at timestamptz not null default clock_timestamp(),
      -- Whether its signature was valid. Others take only a few rows, so that nobody can displace those of the sender.
      signed boolean not null,
      status integer not null,
      -- As its sender names it; null if that is not signed.
      event_id text,
      run_id uuid,
      code text,
      message text,
      check ((code is null) = (message is null))
    );
    create index webhook_log_of_webhook on webhook_log (webhook_id, id);

    -- A draft has no number and belongs to no prompt, so that no list of a process of the previous version shows it, and no
    -- agent pins it. Such a process executes it and deletes its record; the draft is removed later.
    alter table prompt_versions
      alter prompt_id drop not null,
      alter number drop not null,
      -- The prompt that it is a draft of, and the agent that it was executed with.
      add draft_of uuid references prompts on delete cascade,
      add draft_agent_id uuid,
      add check ((prompt_id is null) = (draft_of is not null) and (number is null) = (draft_of is not null)
        and (draft_agent_id is null) = (draft_of is null));
    -- Deleting a version looks for agents and pins of it.
    create index agents_of_version on agents (prompt_version_id);
    create index pins_of_version on pins (prompt_version_id);
    create index prompt_versions_drafts on prompt_versions (id) where draft_of is not null;
  `)
    .execute(db);
}
