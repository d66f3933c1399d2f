import { playgroundTag } from '../../../core/agent/agent.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Page, readPage } from '../../../db/page.ts';
import { sql } from '../../../db/sql.ts';
import { type Viewer, visibleTo } from '../../people/statements/visible-agents.ts';

/** The pins of an agent or a workflow: which version it used, since when, pinned by whom. */

export type PinOwner = 'agent' | 'workflow';

export interface PinRow {
  readonly id: string;
  /** Of a prompt or of a workflow. */
  readonly versionId: string;
  readonly versionLabel: string;
  readonly number: number;
  readonly pinnedAt: Date;
  readonly pinnedBy: string | null;
}

const columnsOf = {
  agent: { table: 'pins', owner: 'agent_id', version: 'prompt_version_id' },
  workflow: { table: 'workflow_pins', owner: 'workflow_id', version: 'workflow_version_id' },
} as const;

const versionsOf = { agent: 'prompt_versions', workflow: 'workflow_versions' } as const;

/** Newest first. The first pin is in effect. */
export function listPins(
  db: Db,
  of: PinOwner,
  ownerId: string,
  page: Page,
): Promise<{ rows: PinRow[]; total: number }> {
  const { table, owner, version } = columnsOf[of];
  const columns = sql`p.id, v.id as version_id, v.label as version_label, v.number, p.pinned_at, p.pinned_by`;
  const from = sql`${sql.table(table)} p
    join ${sql.table(versionsOf[of])} v on v.id = ${sql.ref(`p.${version}`)}
    where ${sql.ref(`p.${owner}`)} = ${ownerId}`;
  return readPage(db, { columns, from, order: sql`p.id desc` }, page);
}

/** SQL: whether the agent looks like one of the dashboard's playground. Once it has left Draft, people use it. */
const isOfPlayground = sql`(
  a.stage = 'Draft' and a.visibility = 'private' and ${playgroundTag} = any (a.tags))`;

export interface AgentPinRow extends PinRow {
  readonly agentId: string;
  readonly agentName: string;
}

/**
 * Pins of all agents that the viewer sees, from the last moment to the first. Null: an open range. Leaves out those of the
 * playground, which pins the version to execute each time.
 */
export function listAllPins(
  db: Db,
  viewer: Viewer,
  range: { readonly startMs: number | null; readonly endMs: number | null },
  page: Page,
): Promise<{ rows: AgentPinRow[]; total: number }> {
  const { startMs, endMs } = range;
  const columns = sql`p.id, v.id as version_id, v.label as version_label, v.number, p.pinned_at,
    p.pinned_by, a.id as agent_id, a.name as agent_name`;
  const from = sql`pins p join agents a on a.id = p.agent_id
    join prompt_versions v on v.id = p.prompt_version_id
    where ${visibleTo(viewer)} and not ${isOfPlayground}
      ${startMs === null ? sql`` : sql`and p.pinned_at >= ${new Date(startMs)}`}
      ${endMs === null ? sql`` : sql`and p.pinned_at < ${new Date(endMs + 1)}`}`;
  return readPage(db, { columns, from, order: sql`p.pinned_at desc, p.id desc` }, page);
}

/** The pin in effect. Valid only while the agent or workflow is locked. */
export async function findLastPin(trx: Trx, of: PinOwner, ownerId: string): Promise<string | null> {
  const { table, owner } = columnsOf[of];
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where ${sql.ref(owner)} = ${ownerId}
    order by id desc limit 1`.execute(trx);
  return rows[0]?.id ?? null;
}

export interface NewPin {
  readonly ownerId: string;
  readonly versionId: string;
  readonly pinnedBy: string | null;
}

export async function insertPin(
  trx: Trx,
  of: PinOwner,
  { id, ownerId, versionId, pinnedBy }: NewPin & { readonly id: string },
): Promise<void> {
  const { table, owner, version } = columnsOf[of];
  await sql`
    insert into ${sql.table(table)} (id, ${sql.ref(owner)}, ${sql.ref(version)}, pinned_by)
    values (${id}, ${ownerId}, ${versionId}, ${pinnedBy})`.execute(trx);
}
