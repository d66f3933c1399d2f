import type { LifecycleState } from '../../../core/agent/agent.ts';
import type { AgentSettings } from '../../../core/agent/agent-settings.ts';
import type { Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import { storedConfig } from '../../../engine/admit/agent-config.ts';
import { grantFreeSlots } from '../../../engine/complete/completion.ts';
import { deleteSlug } from './slugs.ts';

/** Writes agents. Everything except `insertAgent` needs the lock of the limits and then of the agent. */

export interface NewAgent {
  readonly id: string;
  readonly workspaceId: string;
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly createdBy: string | null;
  readonly settings: AgentSettings;
}

/** Inserts a draft with a disabled API, and the row of limits that counts its calls, but no slug and aliases. */
export async function insertAgent(trx: Trx, agent: NewAgent): Promise<void> {
  const { settings: s } = agent;
  await sql`
    insert into agents (id, workspace_id, name, prompt_id, prompt_version_id, config, required_variables,
      optional_variables, default_variable_values, visibility, requests_per_minute, requests_per_hour,
      requests_per_day, project, category, tags, description, allowed_origins, records_days,
      bodies_days, store_bodies, allow_instructions, allow_tools, version_aliases, created_by)
    values (${agent.id}, ${agent.workspaceId}, ${s.name}, ${agent.promptId}, ${agent.promptVersionId},
      ${storedConfig(s.config)}, ${s.requiredVariables}::text[], ${s.optionalVariables}::text[],
      ${JSON.stringify(s.defaultVariableValues)}, ${s.visibility}, ${s.rateLimits.requestsPerMinute},
      ${s.rateLimits.requestsPerHour}, ${s.rateLimits.requestsPerDay}, ${s.project}, ${s.category},
      ${s.tags}::text[], ${s.description}, ${s.allowedOrigins}::text[], ${s.retention.recordsDays},
      ${s.retention.bodiesDays}, ${s.storeBodies}, ${s.allowInstructions}, ${s.allowTools},
      ${JSON.stringify(s.versionAliases)}::jsonb, ${agent.createdBy})`.execute(trx);
  await sql`insert into limits (subject) values (${agent.id})`.execute(trx);
}

export async function writeSettings(
  trx: Trx,
  id: string,
  settings: AgentSettings,
  more: { readonly promptVersionId: string; readonly apiEnabled: boolean },
): Promise<void> {
  const { rateLimits, retention } = settings;
  await sql`
    update agents set name = ${settings.name}, prompt_version_id = ${more.promptVersionId},
      config = ${storedConfig(settings.config)},
      required_variables = ${settings.requiredVariables}::text[],
      optional_variables = ${settings.optionalVariables}::text[],
      default_variable_values = ${JSON.stringify(settings.defaultVariableValues)},
      api_enabled = ${more.apiEnabled}, visibility = ${settings.visibility},
      requests_per_minute = ${rateLimits.requestsPerMinute},
      requests_per_hour = ${rateLimits.requestsPerHour}, requests_per_day = ${rateLimits.requestsPerDay},
      project = ${settings.project}, category = ${settings.category}, tags = ${settings.tags}::text[],
      description = ${settings.description}, allowed_origins = ${settings.allowedOrigins}::text[],
      records_days = ${retention.recordsDays}, bodies_days = ${retention.bodiesDays},
      store_bodies = ${settings.storeBodies}, allow_instructions = ${settings.allowInstructions},
      allow_tools = ${settings.allowTools},
      version_aliases = ${JSON.stringify(settings.versionAliases)}::jsonb,
      revision = revision + 1, updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
}

export async function writeLifecycleState(
  trx: Trx,
  id: string,
  standing: LifecycleState,
): Promise<void> {
  await sql`
    update agents set stage = ${standing.stage}, api_enabled = ${standing.apiEnabled},
      archived_at = case when ${standing.archived} then coalesce(archived_at, clock_timestamp()) end,
      revision = revision + 1, updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
}

/** Deletes the agent for callers and frees its slug and aliases. Executions that were accepted continue. */
export async function markDeleted(trx: Trx, id: string): Promise<void> {
  await sql`
    update agents set deleted_at = clock_timestamp(), revision = revision + 1,
      updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
  await deleteSlug(trx, id);
}

/**
 * Grants slots to waiting executions after a change of `maxConcurrency`. Executions that were accepted without such a limit
 * have no slot, so a new limit is exact only after they have ended.
 */
export async function grantSlots(trx: Trx, id: string): Promise<void> {
  await trx.run({ text: grantFreeSlots.text, values: grantFreeSlots.values([id]) });
}
