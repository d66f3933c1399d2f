import type { Db } from '../database.ts';
import { sql } from '../sql.ts';

/**
 * The URLs of endpoints are sealed, because their path and query may be a secret, and the server's secret is noticed if it is
 * wrong.
 *
 * The migration has no secret, so workers seal what they find (`features/events/verbs/seal-urls.ts`): what existed before, and what a
 * process of an earlier version writes beside this one. They do so once no such process is a worker, because it would send to
 * the text in `url`. That text is none that it could send to: its guard refuses every scheme but http and https.
 */
export async function up(db: Db): Promise<void> {
  await sql
    .raw(`
    -- First, because it may take a while, and what follows locks whole tables.
    update audit set details = ((details::jsonb - 'url') || jsonb_build_object(
      'host', substring(details ->> 'url' from '^https?://[/\\\\]*([^/\\\\?#]+)')))::json
    where action = 'endpoint.create' and details::jsonb ? 'url';

    create table secret_canary (
      only_row boolean primary key default true check (only_row),
      -- A known text under the server's secret.
      sealed bytea not null
    );

    -- With it, url is its origin after 'sealed:'. Without, url is as an earlier version wrote it.
    alter table endpoints add sealed_url bytea,
      add check (sealed_url is not null or url not like 'sealed:%');
    create or replace view active_endpoints as
      select p.* from endpoints p
      where p.enabled and (p.api_key_id is null or exists (
        select from api_keys k
        join members m on m.workspace_id = k.workspace_id and m.user_id = k.issued_by and m.role = 'owner'
        where k.id = p.api_key_id and k.revoked_at is null and 'own' = any (k.permissions)
          and (k.expires_at is null or k.expires_at > clock_timestamp())));
    -- False: of an earlier version.
    alter table workers add opens_urls boolean not null default false;
  `)
    .execute(db);
}
