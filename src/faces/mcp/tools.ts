import type { ResponseFormat } from '../../core/agent/response-format.ts';
import { cutSlugOf, toolNameMax } from '../../core/agent/tool-name.ts';
import { fromId } from '../../core/id.ts';
import { isName } from '../../core/slug.ts';
import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { Db } from '../../db/database.ts';
import { aboveFloor } from '../../db/id-bounds.ts';
import { sql } from '../../db/sql.ts';
import { agentConfigOf, type StoredConfig } from '../../engine/admit/agent-config.ts';
import { type Viewer, visibleTo } from '../../features/people/statements/visible-agents.ts';
import { versionVisibleTo } from '../../features/workflows/statements/workflows.ts';

/** Reads agents and workflows as tools, and what their calls started. */

interface ToolRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
}

export interface AgentToolRow extends ToolRow {
  readonly kind: 'agent';
  readonly promptDescription: string | null;
  readonly requiredVariables: readonly string[];
  readonly optionalVariables: readonly string[];
  readonly defaultVariableValues: Readonly<Record<string, unknown>>;
  readonly messageLists: readonly string[];
  readonly variableSchemas: Readonly<Record<string, unknown>> | null;
  readonly responseFormat: ResponseFormat | null;
  /** Whether the model may call functions instead of answering. */
  readonly callsFunctions: boolean;
}

export interface WorkflowToolRow extends ToolRow {
  readonly kind: 'workflow';
  readonly input: WorkflowDefinition['input'];
}

export interface ToolQuery {
  /** Only this agent or workflow. */
  readonly id: string | null;
  /** Only those after this slug. */
  readonly after: string | null;
  readonly limit: number;
}

/** The tools that the caller sees and that accept calls, by slug. */
export async function listTools(
  db: Db,
  viewer: Viewer,
  query: ToolQuery,
): Promise<(AgentToolRow | WorkflowToolRow)[]> {
  const [agents, workflows] = await Promise.all([
    listAgentTools(db, viewer, query),
    listWorkflowTools(db, viewer, query),
  ]);
  return [...agents, ...workflows]
    .sort((one, other) => (one.slug < other.slug ? -1 : 1))
    .slice(0, query.limit);
}

async function listAgentTools(
  db: Db,
  viewer: Viewer,
  { id, after, limit }: ToolQuery,
): Promise<AgentToolRow[]> {
  type Parsed = 'defaultVariableValues' | 'variableSchemas' | 'responseFormat';
  type Stored = Omit<AgentToolRow, 'kind' | Parsed> & {
    readonly defaultVariableValues: string;
    readonly variableSchemas: string | null;
    readonly config: StoredConfig;
    readonly versionFormat: string | null;
  };
  const { rows } = await sql<Stored>`
    select a.id, s.slug, a.name, a.description, p.description as prompt_description,
      a.required_variables, a.optional_variables, a.default_variable_values, v.message_lists,
      v.variable_schemas, a.config, v.response_format as version_format,
      (v.content -> 'tools') is not null as calls_functions
    from agents a join prompt_versions v on v.id = a.prompt_version_id
      join prompts p on p.id = a.prompt_id join slugs s on s.subject = a.id
    where ${visibleTo(viewer)} and a.archived_at is null and a.api_enabled
      and a.stage in ('Testing', 'Deployed')
      and (${id}::uuid is null or a.id = ${id})
      and (${after}::text is null or s.slug > ${after})
    order by s.slug limit ${limit}`.execute(db);
  return rows.map(({ config, versionFormat, ...row }) => ({
    ...row,
    kind: 'agent',
    defaultVariableValues: JSON.parse(row.defaultVariableValues),
    variableSchemas: row.variableSchemas === null ? null : JSON.parse(row.variableSchemas),
    responseFormat: agentConfigOf(config).responseFormat ?? JSON.parse(versionFormat ?? 'null'),
  }));
}

async function listWorkflowTools(
  db: Db,
  viewer: Viewer,
  { id, after, limit }: ToolQuery,
): Promise<WorkflowToolRow[]> {
  const { rows } = await sql<ToolRow & { readonly input: string }>`
    select w.id, s.slug, w.name, w.description, v.definition -> 'input' as input
    from workflows w join workflow_versions v on v.id = w.workflow_version_id
      join slugs s on s.subject = w.id
    where w.deleted_at is null and w.enabled and ${versionVisibleTo(viewer)}
      and (${id}::uuid is null or w.id = ${id})
      and (${after}::text is null or s.slug > ${after})
    order by s.slug limit ${limit}`.execute(db);
  return rows.map((row) => ({ ...row, kind: 'workflow', input: JSON.parse(row.input) }));
}

export interface ToolSubject {
  readonly kind: 'agent' | 'workflow';
  readonly id: string;
}

/**
 * The agent or workflow that a caller addresses by an identifier or a name; null if there is none. Names can be guessed, identifiers
 * cannot: what the caller does not see has no name for it, so that no answer, record or count tells that it exists. An identifier
 * is returned unseen, because checks that precede visibility answer differently.
 */
export async function findTool(db: Db, viewer: Viewer, name: string): Promise<ToolSubject | null> {
  const agentId = fromId('agent', name);
  if (agentId !== null) return { kind: 'agent', id: agentId };
  const workflowId = fromId('workflow', name);
  if (workflowId !== null) return { kind: 'workflow', id: workflowId };
  if (!isName(name)) return null;
  const { rows } = await sql<ToolSubject>`
    select 'agent' as kind, a.id from names n join agents a on a.id = n.subject
    where n.workspace_id = ${viewer.workspaceId} and n.name = ${name} and ${visibleTo(viewer)}
    union all
    select 'workflow', w.id from names n join workflows w on w.id = n.subject
      join workflow_versions v on v.id = w.workflow_version_id
    where n.workspace_id = ${viewer.workspaceId} and n.name = ${name}
      and w.deleted_at is null and ${versionVisibleTo(viewer)}`.execute(db);
  return rows[0] ?? (await findCutTool(db, viewer, name));
}

/** By a name of a tool that is a cut slug. */
async function findCutTool(db: Db, viewer: Viewer, name: string): Promise<ToolSubject | null> {
  const cut = cutSlugOf(name);
  if (cut === null) return null;
  const { rows } = await sql<{ slug: string }>`
    select slug from slugs
    where workspace_id = ${viewer.workspaceId} and length(slug) > ${toolNameMax} and starts_with(slug, ${cut.prefix})
      and starts_with(encode(sha256(convert_to(slug, 'UTF8')), 'hex'), ${cut.hash})`.execute(db);
  for (const { slug } of rows) {
    const tool = await findTool(db, viewer, slug);
    if (tool) return tool;
  }
  return null;
}

/** The agent of an execution, in any workspace: the caller must check access. */
export async function findAgentOfExecution(db: Db, id: string): Promise<string | null> {
  const { rows } = await sql<{ agentId: string }>`
    select e.agent_id from all_executions e where e.id = ${id} and ${aboveFloor}`.execute(db);
  return rows[0]?.agentId ?? null;
}

/** The workflow of a run, in any workspace: the caller must check access. */
export async function findWorkflowOfRun(db: Db, id: string): Promise<string | null> {
  const { rows } = await sql<{ workflowId: string }>`
    select workflow_id from workflow_runs where id = ${id}`.execute(db);
  return rows[0]?.workflowId ?? null;
}
