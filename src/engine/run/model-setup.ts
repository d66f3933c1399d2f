import type { ModelSetup } from '../../core/model/model-port.ts';
import type { ProviderAuth, ProviderKind } from '../../core/model/provider.ts';
import { type Sql, sql } from '../../db/sql.ts';

/**
 * The stored provider and price of a workspace's model: the SQL to read them together with an execution, so that no execution
 * needs a query of its own, and the conversion of a row.
 */

/** SQL: the columns of `SetupRow`; needs `setupJoins`. */
export const setupColumns = sql`setup_provider.id as provider_id, setup_provider.kind as provider_kind,
  setup_provider.sealed_api_key, setup_provider.base_url as "baseURL", setup_provider.sealed_extras,
  setup_provider.organization as provider_organization, setup_provider.project as provider_project,
  setup_provider.auth as provider_auth, setup_price.id as price_id, setup_price.input_per_million, setup_price.output_per_million,
  setup_price.cache_read_per_million, setup_price.cache_write_per_million`;

/** SQL: the name that a model's price has. Options of the built-in model are no part of it. */
const pricedName = (model: Sql) =>
  sql`case when ${model} like 'cueline/%' then split_part(${model}, '?', 1) else ${model} end`;

/** SQL: joins the provider and price of a model. Lateral subqueries: PostgreSQL might otherwise scan all prices and providers. */
export const setupJoins = (workspaceId: Sql, model: Sql) => sql`left join lateral (
      select id, kind, sealed_api_key, base_url, sealed_extras, organization, project, auth from providers
      where workspace_id = ${workspaceId} and name = split_part(${model}, '/', 1) offset 0) as setup_provider on true
    left join lateral (
      select id, input_per_million, output_per_million, cache_read_per_million, cache_write_per_million from prices
      where workspace_id = ${workspaceId} and model = ${pricedName(model)} offset 0) as setup_price on true`;

export interface SetupRow {
  /** Null if no provider is stored; then its other columns are null too. */
  readonly providerId: string | null;
  readonly providerKind: ProviderKind;
  readonly sealedApiKey: Buffer | null;
  readonly baseURL: string | null;
  readonly sealedExtras: Buffer | null;
  readonly providerOrganization: string | null;
  readonly providerProject: string | null;
  readonly providerAuth: ProviderAuth | null;
  /** Null if no price is stored; then its other columns are null too. */
  readonly priceId: number | null;
  readonly inputPerMillion: string;
  readonly outputPerMillion: string;
  readonly cacheReadPerMillion: string | null;
  readonly cacheWritePerMillion: string | null;
}

export function modelSetupOf(row: SetupRow): ModelSetup {
  const { providerId: id, providerKind: kind, sealedApiKey, baseURL, sealedExtras } = row;
  const { providerOrganization: organization, providerProject: project, providerAuth: auth } = row;
  const { priceId, inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion } =
    row;
  return {
    provider:
      id === null
        ? null
        : { id, kind, sealedApiKey, baseURL, sealedExtras, organization, project, auth },
    price:
      priceId === null
        ? null
        : {
            id: priceId,
            inputPerMillion,
            outputPerMillion,
            cacheReadPerMillion,
            cacheWritePerMillion,
          },
  };
}
