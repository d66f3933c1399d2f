import type { AgentSettings } from '../../core/agent/agent-settings.ts';
import { effective, type ModelSettings } from '../../core/agent/model-settings.ts';
import { findUnboundedOption, unboundedMessage } from '../../core/agent/unbounded-options.ts';
import { CallFailure } from '../../core/failure.ts';
import { splitModelName } from '../../core/model/model-port.ts';
import type { Trx } from '../../db/database.ts';
import { type Sql, sql } from '../../db/sql.ts';

/**
 * Refuses a configuration under which a limit of cost cannot hold: an agent whose calls `maxCostUSD` or a budget counts, and whose
 * `providerOptions`, or the `bodyExtra` of a provider of its models, set an output limit of their own. Whatever can make one calls
 * this: changes of agents, providers and budgets.
 *
 * A budget for keys or tags may count calls of any agent. Archived agents are not called: they are checked when they are restored.
 * Two changes at the same moment may pass each other; then calls are refused.
 */

/**
 * An agent as it will be. A new one has an id that no budget names.
 * @param counted whether a budget will count its calls; null if budgets stay as they are
 */
export async function requireBoundedAgent(
  trx: Trx,
  workspaceId: string,
  { id, name, config }: Pick<AgentSettings, 'name' | 'config'> & { readonly id: string | null },
  version: ModelSettings,
  counted: boolean | null = null,
): Promise<void> {
  const { model, settings } = effective(config, version);
  const models = config.models ?? [model ?? ''];
  const providerNames = models.map((one) => splitModelName(one).provider);
  const { rows } = await sql<Pick<PassedOptions, 'isBudgeted' | 'providers'>>`
    select coalesce(${counted}::boolean, ${isBudgeted(sql`${workspaceId}::uuid`, sql`${id}::uuid`)}) as is_budgeted,
      ${providersOf(sql`${workspaceId}::uuid`, sql`select unnest(${providerNames}::text[])`)} as providers`.execute(
    trx,
  );
  const { providerOptions = null } = settings;
  const hasLimit = config.maxCostUSD !== undefined;
  for (const row of rows) requireBounded({ ...row, agentName: name, hasLimit, providerOptions });
}

/** The stored agents among these, or with this provider, or all of a workspace. */
export async function requireBoundedAgents(
  trx: Trx,
  workspaceId: string,
  { agentIds = null, provider = null, planned = null }: ChangedAgents,
): Promise<void> {
  const names = sql`select split_part(m, '/', 1) from jsonb_array_elements_text(coalesce(
    a.config -> 'models', jsonb_build_array(coalesce(a.config ->> 'model', v.model, '')))) m`;
  const { rows } = await sql<PassedOptions>`
    select a.name as agent_name, a.config ->> 'maxCostUSD' is not null as has_limit,
      ${planned ? sql`true` : isBudgeted(sql`a.workspace_id`, sql`a.id`)} as is_budgeted,
      coalesce(a.config -> 'providerOptions', v.settings -> 'providerOptions') as provider_options,
      ${providersOf(sql`a.workspace_id`, names)} as providers
    from agents a join prompt_versions v on v.id = a.prompt_version_id
    where a.workspace_id = ${workspaceId} and a.deleted_at is null and a.archived_at is null
      and (${agentIds}::uuid[] is null or a.id = any (${agentIds}::uuid[]))
      and a.id <> all (${[...(planned ?? [])]}::uuid[]) and (${provider}::text is null or ${provider} in (${names}))
    order by a.name, a.id`.execute(trx);
  for (const row of rows) requireBounded(row);
}

interface ChangedAgents {
  readonly agentIds?: readonly string[] | null;
  readonly provider?: string | null;
  /** For a budget that will count these agents: those that change as well, and are checked as they will be. */
  readonly planned?: ReadonlySet<string> | null;
}

/** What the calls of an agent pass on to models unchanged. */
interface PassedOptions {
  readonly agentName: string;
  /** Whether it has `maxCostUSD`. */
  readonly hasLimit: boolean;
  readonly isBudgeted: boolean;
  /** Parsed JSON; null if it has none. */
  readonly providerOptions: unknown;
  readonly providers: readonly {
    readonly name: string;
    readonly bodyExtraNames: readonly string[];
    /** Inside of objects too; null as well if a process of an earlier version has stored it. */
    readonly unboundedOption: string | null;
  }[];
}

function requireBounded({ agentName, hasLimit, isBudgeted, ...passed }: PassedOptions): void {
  if (!hasLimit && !isBudgeted) return;
  const found = findPassedOption(passed);
  if (found === null) return;
  const why = hasLimit
    ? `The agent "${agentName}" has "maxCostUSD".`
    : `A budget counts calls of the agent "${agentName}".`;
  throw new CallFailure('CONFLICT', `${why} ${found}`);
}

/** What is wrong, as sentences. */
function findPassedOption({
  providerOptions,
  providers,
}: Pick<PassedOptions, 'providerOptions' | 'providers'>): string | null {
  const own = providerOptions === null ? null : findUnboundedOption({ providerOptions });
  if (own !== null) return unboundedMessage(own);
  for (const { name, bodyExtraNames, unboundedOption } of providers) {
    const names = Object.fromEntries(bodyExtraNames.map((one) => [one, null]));
    const option = unboundedOption ?? findUnboundedOption(names);
    if (option === null) continue;
    return `${unboundedMessage(`bodyExtra.${option}`)} It belongs to the provider '${name}'.`;
  }
  return null;
}

/** SQL: whether an enabled budget may count calls of an agent. */
const isBudgeted = (workspaceId: Sql, agentId: Sql) => sql`exists (
  select from budgets b where b.workspace_id = ${workspaceId} and b.enabled
    and (b.agent_ids is null or ${agentId} = any (b.agent_ids)))`;

/** SQL: the providers among these that add to the body of each call, as JSON. An earlier version does not know the option: it may be of another body. */
const providersOf = (workspaceId: Sql, names: Sql) => sql`(
  select coalesce(jsonb_agg(jsonb_build_object('name', p.name, 'bodyExtraNames', p.body_extra_names,
    'unboundedOption', case when split_part(p.unbounded_option, '.', 1) = any (p.body_extra_names)
      then p.unbounded_option end) order by p.name), '[]')
  from providers p where p.workspace_id = ${workspaceId} and p.body_extra_names <> '{}' and p.name in (${names}))`;
