import type { Stage, Visibility } from '../src/core/agent/agent.ts';
import { noLimits, type RateLimits } from '../src/core/agent/limits.ts';
import type { AgentConfig } from '../src/core/agent/model-settings.ts';
import { placeholders } from '../src/core/agent/prompt.ts';
import { toId } from '../src/core/id.ts';
import type { ExecutedTool } from '../src/core/tools/executed-tool.ts';
import { sql } from '../src/db/sql.ts';
import { storedConfig } from '../src/engine/admit/agent-config.ts';
import { insertSlug } from '../src/features/agents/statements/slugs.ts';
import { freshId } from './fresh-id.ts';
import type { Service } from './service.ts';

/** An agent with its prompt and pinned version, inserted into the tables. */
export interface AgentOptions {
  readonly stage?: Stage;
  readonly apiEnabled?: boolean;
  readonly archived?: boolean;
  readonly visibility?: Visibility;
  readonly createdBy?: string;
  readonly workspaceId?: string;
  readonly system?: string;
  /** `Hello {{name}}` by default. */
  readonly user?: string;
  readonly model?: string;
  readonly config?: AgentConfig;
  /** Follows from the id by default. */
  readonly slug?: string;
  readonly requiredVariables?: readonly string[];
  readonly optionalVariables?: readonly string[];
  readonly defaultVariableValues?: Readonly<Record<string, unknown>>;
  readonly rateLimits?: Partial<RateLimits>;
  readonly allowedOrigins?: readonly string[];
  readonly executedTools?: readonly ExecutedTool[];
}

export interface TestAgent {
  /** The stored id, and the wire id. */
  readonly id: string;
  readonly agentId: string;
  readonly promptVersionId: string;
  /** `/api/v1/agents/{agentId}` */
  readonly path: string;
}

export async function addAgent(
  service: Pick<Service, 'db' | 'workspaceId' | 'ownerId'>,
  options: AgentOptions = {},
): Promise<TestAgent> {
  const { db } = service;
  const workspaceId = options.workspaceId ?? service.workspaceId;
  const createdBy = options.createdBy ?? service.ownerId;
  const { stage = 'Deployed', system = null, user = 'Hello {{name}}' } = options;
  const names = placeholders({ system, user });
  const limits = { ...noLimits, ...options.rateLimits };
  const open = stage === 'Testing' || stage === 'Deployed';
  const [promptId, versionId, id] = [freshId(), freshId(), freshId()];
  await sql`insert into prompts (id, workspace_id, name) values (${promptId}, ${workspaceId}, 'Prompt')`.execute(
    db,
  );
  await sql`
    insert into prompt_versions (id, prompt_id, workspace_id, number, label, system_template, user_template, variables, model,
      content)
    values (${versionId}, ${promptId}, ${workspaceId}, 1, 'v1', ${system}, ${user}, ${names}::text[],
      ${options.model ?? 'cueline/echo'}, ${options.executedTools ? JSON.stringify({ executedTools: options.executedTools }) : null})`.execute(
    db,
  );
  await sql`
    insert into agents (id, workspace_id, name, prompt_id, prompt_version_id, config, required_variables,
      optional_variables, default_variable_values, stage, api_enabled, visibility, requests_per_minute,
      requests_per_hour, requests_per_day, allowed_origins, created_by, archived_at)
    values (${id}, ${workspaceId}, 'Agent', ${promptId}, ${versionId}, ${storedConfig(options.config ?? {})},
      ${options.requiredVariables ?? names}::text[], ${options.optionalVariables ?? []}::text[],
      ${JSON.stringify(options.defaultVariableValues ?? {})}, ${stage}, ${options.apiEnabled ?? open},
      ${options.visibility ?? 'public'}, ${limits.requestsPerMinute}, ${limits.requestsPerHour},
      ${limits.requestsPerDay}, ${options.allowedOrigins ?? []}::text[], ${createdBy},
      ${options.archived ? sql`clock_timestamp()` : null})`.execute(db);
  await sql`insert into limits (subject) values (${id})`.execute(db);
  await insertSlug(db, { workspaceId, slug: options.slug ?? `agent-${id}`, subject: id });
  const agentId = toId('agent', id);
  return {
    id,
    agentId,
    promptVersionId: toId('version', versionId),
    path: `/api/v1/agents/${agentId}`,
  };
}

/** Executes and waits for the end; returns the record. */
export async function run(
  service: Service,
  agent: Pick<TestAgent, 'path'>,
  key: string,
  variables: object = { name: 'you' },
) {
  const { end } = await startExecution(service, agent, key, { variables });
  return end();
}

/** Its id, the path of its status, and what waits for its end. */
export async function startExecution(
  service: Service,
  { path }: Pick<TestAgent, 'path'>,
  key: string,
  body: object,
) {
  const accepted = await service.call('POST', `${path}/execute`, { key, body });
  if (accepted.status !== 202) throw new Error(`not accepted: ${JSON.stringify(accepted.body)}`);
  const { executionId, statusUrl }: Record<string, string> = accepted.body;
  return {
    id: executionId ?? '',
    path: statusUrl ?? '',
    end: () => ended(service, statusUrl ?? '', key),
  };
}

/** Waits for the end of an execution, however long it takes; returns the record. */
export async function ended(service: Service, statusUrl: string, key: string) {
  for (;;) {
    const { body } = await service.call('GET', `${statusUrl}?wait=20`, { key });
    if (body.status !== 'processing') return body;
  }
}
