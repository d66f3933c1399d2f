import type { Visibility } from '../../../core/agent/agent.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';
import {
  parseDefinition,
  type WithDefinition,
  type WithDefinitionText,
} from '../../../engine/advance/workflow-definitions.ts';
import { type AgentRow, hasName } from '../../agents/statements/agents.ts';
import type { Viewer } from '../../people/statements/visible-agents.ts';
import { promptVisibleToIssuer } from '../../prompts/statements/prompts.ts';
import {
  type StoredVersion,
  type VersionRow,
  versionColumns,
  versionOf,
} from '../../prompts/statements/versions.ts';
import { versionVisibleTo } from '../../workflows/statements/workflows.ts';

/** Reads what a declaration is compared with: prompts and workflows by name, versions by label. */

/** Serializes the declarations of a workspace, because they lock many rows in no fixed order. */
export async function lockDeclaration(trx: Trx, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`declaration ${workspaceId}`}, 0))`.execute(
    trx,
  );
}

export interface NamedPromptRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly visibility: Visibility;
  readonly archived: boolean;
}

/** Visible ones with these names, or all if `names` is null; oldest first. Ignores the restriction of a key to agents. */
export async function findPromptsByName(
  db: Db,
  viewer: Viewer,
  names: readonly string[] | null,
): Promise<NamedPromptRow[]> {
  const { rows } = await sql<NamedPromptRow>`
    select id, name, description, visibility, archived_at is not null as archived from prompts p
    where ${promptVisibleToIssuer(viewer)} and ${hasName('p', names)} order by id`.execute(db);
  return rows;
}

export interface NamedWorkflowRow extends WithDefinition {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly enabled: boolean;
}

/** Those with these names, or all if `names` is null; oldest first. */
export async function findWorkflowsByName(
  db: Db,
  viewer: Viewer,
  names: readonly string[] | null,
): Promise<NamedWorkflowRow[]> {
  const { rows } = await sql<WithDefinitionText<NamedWorkflowRow>>`
    select w.id, w.name, s.slug, w.description, w.enabled, v.definition
    from workflows w join workflow_versions v on v.id = w.workflow_version_id
      join slugs s on s.subject = w.id
    where w.deleted_at is null and ${hasName('w', names)} and ${versionVisibleTo(viewer)} order by w.id`.execute(
    db,
  );
  return rows.map(parseDefinition);
}

export async function findVersionByLabel(
  db: Db,
  promptId: string,
  label: string,
): Promise<VersionRow | null> {
  const { rows } = await sql<StoredVersion>`
    select ${versionColumns} from prompt_versions v
    where v.prompt_id = ${promptId} and v.label = ${label}`.execute(db);
  return rows[0] ? versionOf(rows[0]) : null;
}

/** The newest version of each of these prompts, and those that the agents pin or have aliases for; by prompt and number. */
export async function findDeclaredVersions(
  db: Db,
  promptIds: readonly string[],
  agents: readonly Pick<AgentRow, 'promptId' | 'promptVersionId' | 'versionAliases'>[],
): Promise<VersionRow[]> {
  const versionIds = agents.map(({ promptVersionId }) => promptVersionId);
  const aliased = agents.flatMap(({ promptId, versionAliases }) =>
    Object.values(versionAliases).map((label) => ({ promptId, label })),
  );
  const { rows } = await sql<StoredVersion>`
    select ${versionColumns} from prompt_versions v
    where v.prompt_id = any (${promptIds}::uuid[]) and (v.id = any (${versionIds}::uuid[])
      or (v.prompt_id, v.label) in (
        select * from unnest(${aliased.map(({ promptId }) => promptId)}::uuid[], ${aliased.map(({ label }) => label)}::text[]))
      or v.number = (select max(number) from prompt_versions n where n.prompt_id = v.prompt_id))
    order by v.prompt_id, v.number`.execute(db);
  return rows.map(versionOf);
}
