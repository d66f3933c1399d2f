import type { ProviderAuth, ProviderKind, StoredProvider } from '../../../core/model/provider.ts';
import type { ExtraNames } from '../../../core/model/request-extras.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** The providers of a workspace. Credentials are encrypted; this layer cannot decrypt them. */

export interface ProviderRow extends ExtraNames {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string | null;
  readonly hasApiKey: boolean;
  readonly organization: string | null;
  readonly project: string | null;
  readonly auth: ProviderAuth | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const shown = sql`name, kind, base_url, sealed_api_key is not null as has_api_key, header_names, query_names,
    body_extra_names, organization, project, auth, created_at, updated_at`;

export async function listProviders(db: Db, workspaceId: string): Promise<ProviderRow[]> {
  const { rows } = await sql<ProviderRow>`
    select ${shown} from providers where workspace_id = ${workspaceId}
    order by name collate "C"`.execute(db);
  return rows;
}

export async function findProvider(
  db: Db,
  workspaceId: string,
  name: string,
): Promise<ProviderRow | null> {
  const { rows } = await sql<ProviderRow>`
    select ${shown} from providers where workspace_id = ${workspaceId} and name = ${name}`.execute(
    db,
  );
  return rows[0] ?? null;
}

export interface NewProvider extends ExtraNames {
  /** The first option of `bodyExtra` with which no limit of cost can hold; null if it has none. */
  readonly unboundedOption: string | null;
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly kind: ProviderKind;
  readonly sealedApiKey: Buffer | null;
  readonly baseURL: string | null;
  readonly sealedExtras: Buffer | null;
  readonly organization: string | null;
  readonly project: string | null;
  readonly auth: ProviderAuth | null;
}

/**
 * Inserts or replaces a provider, including its id. The encryption of a credential is bound to that id, so of two concurrent
 * writes each must bring its own.
 */
export async function putProvider(db: Db, provider: NewProvider): Promise<ProviderRow> {
  const { id, workspaceId, name, kind, sealedApiKey, baseURL, sealedExtras } = provider;
  const { headerNames, queryNames, bodyExtraNames, organization, project, auth } = provider;
  const { unboundedOption } = provider;
  const { rows } = await sql<ProviderRow>`
    insert into providers as p (id, workspace_id, name, kind, sealed_api_key, base_url, sealed_extras,
      header_names, query_names, body_extra_names, unbounded_option, organization, project, auth)
    values (${id}, ${workspaceId}, ${name}, ${kind}, ${sealedApiKey}, ${baseURL}, ${sealedExtras},
      ${headerNames}, ${queryNames}, ${bodyExtraNames}, ${unboundedOption}, ${organization}, ${project}, ${auth})
    on conflict (workspace_id, name) do update set id = excluded.id, kind = excluded.kind,
      sealed_api_key = excluded.sealed_api_key, base_url = excluded.base_url,
      sealed_extras = excluded.sealed_extras, header_names = excluded.header_names,
      query_names = excluded.query_names, body_extra_names = excluded.body_extra_names,
      unbounded_option = excluded.unbounded_option,
      organization = excluded.organization, project = excluded.project, auth = excluded.auth,
      revision = p.revision + 1, updated_at = clock_timestamp()
    returning ${shown}`.execute(db);
  if (!rows[0]) throw new Error('The upsert returned no row.');
  return rows[0];
}

/** False if it does not exist. */
export async function deleteProvider(db: Db, workspaceId: string, name: string): Promise<boolean> {
  const { rowCount } = await sql`
    delete from providers where workspace_id = ${workspaceId} and name = ${name}`.execute(db);
  return rowCount > 0;
}

/** A provider with its encrypted credential. */
export async function findStoredProvider(
  db: Db,
  workspaceId: string,
  name: string,
): Promise<StoredProvider | null> {
  const { rows } = await sql<StoredProvider>`
    select id, kind, sealed_api_key, base_url as "baseURL", sealed_extras, organization, project, auth
    from providers
    where workspace_id = ${workspaceId} and name = ${name}`.execute(db);
  return rows[0] ?? null;
}

export interface SealedRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly sealedApiKey: Buffer | null;
  readonly sealedExtras: Buffer | null;
}

/** What is encrypted for the providers of all workspaces, locked until the transaction ends. */
export async function lockSealed(trx: Trx): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select id, workspace_id, name, sealed_api_key, sealed_extras from providers
    where sealed_api_key is not null or sealed_extras is not null
    order by id for update`.execute(trx);
  return rows;
}

/** What is left out of a row stays as it is. */
export async function updateSealed(
  trx: Trx,
  rows: readonly (Pick<SealedRow, 'id'> & Partial<SealedRow>)[],
): Promise<void> {
  const ids = rows.map((row) => row.id);
  const apiKeys = rows.map((row) => row.sealedApiKey ?? null);
  const extras = rows.map((row) => row.sealedExtras ?? null);
  await sql`
    update providers p set sealed_api_key = coalesce(n.api_key, sealed_api_key),
      sealed_extras = coalesce(n.extras, sealed_extras), revision = p.revision + 1
    from unnest(${ids}::uuid[], ${apiKeys}::bytea[], ${extras}::bytea[]) as n (id, api_key, extras)
    where p.id = n.id`.execute(trx);
}
