import type { AgentSort, LifecycleState, Stage } from '../../../core/agent/agent.ts';
import type { AgentSettings } from '../../../core/agent/agent-settings.ts';
import type { RateLimits } from '../../../core/agent/limits.ts';
import type { Retention } from '../../../core/history/retention.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { containsText, type Page, readPage } from '../../../db/page.ts';
import { type Sql, sql } from '../../../db/sql.ts';
import { agentConfigOf, type StoredConfig } from '../../../engine/admit/agent-config.ts';
import { type Viewer, visibleTo } from '../../people/statements/visible-agents.ts';

/** Reads the agents that the caller may see. */

export interface AgentRow extends AgentSettings, LifecycleState {
  readonly id: string;
  readonly promptId: string;
  readonly promptVersionId: string;
  readonly promptVersionLabel: string;
  readonly revision: number;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type StoredRow = Omit<AgentRow, 'config' | 'defaultVariableValues' | 'rateLimits' | 'retention'> &
  RateLimits &
  Retention & {
    readonly config: StoredConfig;
    /** JSON text, which preserves the order of names. */
    readonly defaultVariableValues: string;
  };

const columns = sql`a.id, a.name, s.slug,
  array(select n.name from names n where n.subject = a.id and n.ordinal > 0 order by n.ordinal) as aliases, a.prompt_id, a.prompt_version_id, v.label as prompt_version_label,
  a.config, a.required_variables, a.optional_variables, a.default_variable_values, a.stage,
  a.archived_at is not null as archived, a.api_enabled, a.visibility, a.project, a.category, a.tags,
  a.description, a.allowed_origins, a.revision, a.created_by, a.created_at, a.updated_at,
  a.requests_per_minute, a.requests_per_hour, a.requests_per_day, a.records_days, a.bodies_days, a.store_bodies,
  a.allow_instructions, a.allow_tools, a.version_aliases`;
const joined = sql`agents a join prompt_versions v on v.id = a.prompt_version_id
  join slugs s on s.subject = a.id`;

export async function findAgent(db: Db, viewer: Viewer, id: string): Promise<AgentRow | null> {
  const { rows } = await sql<StoredRow>`
    select ${columns} from ${joined} where a.id = ${id} and ${visibleTo(viewer)}`.execute(db);
  return rows[0] ? agentRow(rows[0]) : null;
}

/** The visible ones of these agents. */
export async function findAgents(
  db: Db,
  viewer: Viewer,
  ids: readonly string[],
): Promise<AgentRow[]> {
  const { rows } = await sql<StoredRow>`
    select ${columns} from ${joined}
    where a.id = any (${ids}::uuid[]) and ${visibleTo(viewer)}`.execute(db);
  return rows.map(agentRow);
}

/** The ids of all visible agents, including archived ones; only those with these names if given. */
export async function listVisibleAgents(
  db: Db,
  viewer: Viewer,
  names: readonly string[] | null = null,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select a.id from agents a where ${visibleTo(viewer)} and ${hasName('a', names)}`.execute(db);
  return rows.map(({ id }) => id);
}

/** SQL: whether the row of this alias has one of these names; true if `names` is null. */
export function hasName(alias: string, names: readonly string[] | null) {
  return names === null ? sql`true` : sql`${sql.ref(`${alias}.name`)} = any (${names}::text[])`;
}

/** An agent, whether the caller still sees it or not: a change may hide it from the caller. */
export async function readAgent(trx: Trx, id: string): Promise<AgentRow> {
  const { rows } = await sql<StoredRow>`
    select ${columns} from ${joined} where a.id = ${id}`.execute(trx);
  if (!rows[0]) throw new Error('The updated agent does not exist.');
  return agentRow(rows[0]);
}

/** Locks the agent for a change. The caller must have locked its row of limits. */
export async function lockAgent(trx: Trx, viewer: Viewer, id: string): Promise<AgentRow | null> {
  const { rows } = await sql<StoredRow>`
    select ${columns} from ${joined} where a.id = ${id} and ${visibleTo(viewer)}
    for no key update of a`.execute(trx);
  return rows[0] ? agentRow(rows[0]) : null;
}

export interface AgentQuery extends Page {
  readonly stage: Stage | null;
  readonly project: string | null;
  readonly tag: string | null;
  /** Stored ids. */
  readonly promptId: string | null;
  readonly promptVersionId: string | null;
  readonly model: string | null;
  readonly sort: AgentSort;
  /** A part of the name or description, ignoring case. */
  readonly q: string | null;
  /** Archived agents instead of active ones. */
  readonly archived: boolean;
}

const orders: Readonly<Record<AgentSort, Sql>> = {
  '-createdAt': sql`a.id desc`,
  createdAt: sql`a.id`,
  name: sql`lower(a.name), a.id`,
  '-name': sql`lower(a.name) desc, a.id desc`,
  '-updatedAt': sql`a.updated_at desc, a.id desc`,
  updatedAt: sql`a.updated_at, a.id`,
  ...ordersBy('executions', sql`sum(s.occurred)`),
  ...ordersBy('failures', sql`sum(s.occurred) filter (where s.status = 'failed')`),
  ...ordersBy('costUSD', sql`sum(s.cost_usd)`),
};

/** Orders by a sum over the last 24 hours. The time is a subquery, so that it is read once and bounds the index. */
function ordersBy<Name extends string>(name: Name, sum: Sql) {
  const total = sql`(select coalesce(${sum}, 0) from statistics s
    where s.agent_id = a.id and s.level = 'hour'
      and s.bucket >= (select date_trunc('hour', clock_timestamp(), 'UTC') - interval '23 hours'))`;
  return { [`-${name}`]: sql`${total} desc, a.id desc`, [name]: sql`${total}, a.id` } as {
    readonly [Sort in Name | `-${Name}`]: Sql;
  };
}

export async function listAgents(
  db: Db,
  viewer: Viewer,
  request: AgentQuery,
): Promise<{ rows: AgentRow[]; total: number }> {
  const { stage, project, tag, promptId, promptVersionId, model, q, archived } = request;
  const found = (part: string) =>
    sql`and (${containsText(sql`a.name`, part)} or ${containsText(sql`a.description`, part)})`;
  const from = sql`${joined} where ${visibleTo(viewer)}
    and (a.archived_at is not null) = ${archived}
    ${stage === null ? sql`` : sql`and a.stage = ${stage}`}
    ${project === null ? sql`` : sql`and a.project = ${project}`}
    ${tag === null ? sql`` : sql`and ${tag} = any (a.tags)`}
    ${promptId === null ? sql`` : sql`and a.prompt_id = ${promptId}`}
    ${promptVersionId === null ? sql`` : sql`and a.prompt_version_id = ${promptVersionId}`}
    ${model === null ? sql`` : sql`and coalesce(a.config ->> 'model', v.model) = ${model}`}
    ${q === null ? sql`` : found(q)}`;
  const order = orders[request.sort];
  const page = await readPage<StoredRow>(db, { columns, from, order }, request);
  return { rows: page.rows.map(agentRow), total: page.total };
}

function agentRow(stored: StoredRow): AgentRow {
  const { defaultVariableValues, requestsPerMinute, requestsPerHour, requestsPerDay, ...more } =
    stored;
  const { recordsDays, bodiesDays, ...row } = more;
  return {
    ...row,
    config: agentConfigOf(row.config),
    rateLimits: { requestsPerMinute, requestsPerHour, requestsPerDay },
    retention: { recordsDays, bodiesDays },
    defaultVariableValues: JSON.parse(defaultVariableValues),
  };
}
