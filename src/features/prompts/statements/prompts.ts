import type { Visibility } from '../../../core/agent/agent.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { containsText, type Page, readPage } from '../../../db/page.ts';
import { sql } from '../../../db/sql.ts';
import { type Viewer, visibleTo } from '../../people/statements/visible-agents.ts';
import {
  findLatestVersions,
  type StoredVersion,
  type VersionRow,
  type VersionSummaryRow,
  versionColumns,
  versionOf,
} from './versions.ts';

/**
 * Prompts. A private prompt is visible to its creator and to owners, a public one to every member. A key restricted to
 * agents sees of these only the prompts of its agents.
 */

export interface PromptRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly visibility: Visibility;
  readonly archived: boolean;
  /** Incremented by every visible change, including new versions. */
  readonly revision: number;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly latest: VersionSummaryRow | null;
}

type BareRow = Omit<PromptRow, 'latest'>;

const columns = sql`p.id, p.name, p.description, p.visibility, p.archived_at is not null as archived, p.revision,
  p.created_by, p.created_at, p.updated_at`;

function promptVisibleTo(viewer: Viewer) {
  return sql`${promptVisibleToIssuer(viewer)} and (${viewer.allAgents} or exists (
    select from agents a where a.prompt_id = p.id and ${visibleTo(viewer)}))`;
}

/** SQL: whether a caller sees prompt `p`, without the restriction of its key to agents. */
export function promptVisibleToIssuer({ workspaceId, userId, role }: Viewer) {
  return sql`p.workspace_id = ${workspaceId}
    and (p.visibility = 'public' or ${role === 'owner'} or p.created_by = ${userId})`;
}

/** A version of a visible prompt, or the pinned version of a visible agent: those who see an agent see what it executes. */
export async function findVisibleVersion(
  db: Db,
  viewer: Viewer,
  promptId: string,
  id: string,
): Promise<VersionRow | null> {
  const { rows } = await sql<StoredVersion>`
    select ${versionColumns} from prompt_versions v join prompts p on p.id = coalesce(v.prompt_id, v.draft_of)
    where v.id = ${id} and p.id = ${promptId} and (${promptVisibleTo(viewer)} or exists (
      select from agents a where a.prompt_version_id = v.id and ${visibleTo(viewer)}))`.execute(db);
  return rows[0] ? versionOf(rows[0]) : null;
}

export async function findPrompt(db: Db, viewer: Viewer, id: string): Promise<PromptRow | null> {
  const { rows } = await sql<BareRow>`
    select ${columns} from prompts p where p.id = ${id} and ${promptVisibleTo(viewer)}`.execute(db);
  return (await withLatest(db, rows))[0] ?? null;
}

export async function listPrompts(
  db: Db,
  viewer: Viewer,
  request: Page & { readonly q: string | null; readonly archived: boolean },
): Promise<{ rows: PromptRow[]; total: number }> {
  const { q, archived } = request;
  const found = (part: string) =>
    sql`and (${containsText(sql`p.name`, part)} or ${containsText(sql`p.description`, part)})`;
  const from = sql`prompts p where ${promptVisibleTo(viewer)}
    and (p.archived_at is not null) = ${archived} ${q === null ? sql`` : found(q)}`;
  const page = await readPage<BareRow>(db, { columns, from, order: sql`p.id desc` }, request);
  return { rows: await withLatest(db, page.rows), total: page.total };
}

/** Prevents archiving of the prompt until the transaction ends. */
export async function lockPromptShared(
  trx: Trx,
  viewer: Viewer,
  id: string,
): Promise<{ archived: boolean } | null> {
  const { rows } = await sql<{ archived: boolean }>`
    select p.archived_at is not null as archived from prompts p
    where p.id = ${id} and ${promptVisibleTo(viewer)} for share of p`.execute(trx);
  return rows[0] ?? null;
}

/** Locks a prompt for a change, until the transaction ends. */
export async function lockPrompt(trx: Trx, viewer: Viewer, id: string): Promise<PromptRow | null> {
  const { rows } = await sql<BareRow>`
    select ${columns} from prompts p where p.id = ${id} and ${promptVisibleTo(viewer)}
    for no key update`.execute(trx);
  // A separate statement, because the previous owner of the lock may have added a version.
  return (await withLatest(trx, rows))[0] ?? null;
}

export async function insertPrompt(
  trx: Trx,
  prompt: {
    readonly id: string;
    readonly workspaceId: string;
    readonly name: string;
    readonly description: string | null;
    readonly visibility: Visibility;
    readonly createdBy: string | null;
  },
): Promise<PromptRow> {
  const { rows } = await sql<BareRow>`
    insert into prompts as p (id, workspace_id, name, description, visibility, created_by)
    values (${prompt.id}, ${prompt.workspaceId}, ${prompt.name}, ${prompt.description},
      ${prompt.visibility}, ${prompt.createdBy})
    returning ${columns}`.execute(trx);
  return one(await withLatest(trx, rows));
}

/** Needs the lock of the prompt. Keeps the time of archiving if it was archived already. */
export async function updatePrompt(
  trx: Trx,
  prompt: Pick<PromptRow, 'id' | 'name' | 'description' | 'visibility' | 'archived'>,
): Promise<PromptRow> {
  const { rows } = await sql<BareRow>`
    update prompts as p set name = ${prompt.name}, description = ${prompt.description},
      visibility = ${prompt.visibility},
      archived_at = case when ${prompt.archived} then coalesce(archived_at, clock_timestamp()) end,
      revision = revision + 1, updated_at = clock_timestamp()
    where id = ${prompt.id} returning ${columns}`.execute(trx);
  return one(await withLatest(trx, rows));
}

async function withLatest(db: Db, prompts: readonly BareRow[]): Promise<PromptRow[]> {
  if (prompts.length === 0) return [];
  const versions = await findLatestVersions(
    db,
    prompts.map((prompt) => prompt.id),
  );
  const latest = new Map(versions.map((version) => [version.promptId, version]));
  return prompts.map((prompt) => ({ ...prompt, latest: latest.get(prompt.id) ?? null }));
}

function one<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('The locked prompt does not exist.');
  return row;
}
