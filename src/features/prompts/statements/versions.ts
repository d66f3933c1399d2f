import type { FileKind } from '../../../core/agent/file-value.ts';
import { messageLists } from '../../../core/agent/messages.ts';
import type { ModelSettings } from '../../../core/agent/model-settings.ts';
import { fileVariables } from '../../../core/agent/prompt.ts';
import type { VersionContent } from '../../../core/agent/version-content.ts';
import { storedId } from '../../../core/id.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { type Page, readPage } from '../../../db/page.ts';
import { sql } from '../../../db/sql.ts';
import {
  contentColumns,
  contentOf,
  type StoredContent,
  storedContent,
} from '../../../engine/run/version-columns.ts';

/** Prompt versions. The database rejects changes of a version. */

/** A version without its templates, which can be large. */
export interface VersionSummaryRow extends ModelSettings {
  readonly id: string;
  readonly promptId: string;
  readonly number: number;
  readonly label: string;
  readonly variables: string[];
  readonly messageLists: string[];
  readonly fileVariables: Record<string, FileKind>;
  readonly notes: string | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
}

export interface VersionRow extends Omit<VersionSummaryRow, 'number'>, VersionContent {
  /** Null for a draft. */
  readonly number: number | null;
  /** JSON text. */
  readonly responseFormat: string | null;
  /** JSON text of `{name: schema}`. */
  readonly variableSchemas: string | null;
}

export interface NewVersion extends ModelSettings, VersionContent {
  readonly id: string;
  /** Null for a draft. */
  readonly promptId: string | null;
  readonly workspaceId: string;
  readonly number: number | null;
  readonly draft?: { readonly promptId: string; readonly agentId: string };
  readonly label: string;
  readonly responseFormat: string | null;
  readonly variableSchemas: string | null;
  readonly variables: readonly string[];
  readonly notes: string | null;
  readonly createdBy: string | null;
}

const summaryColumns = sql`v.id, coalesce(v.prompt_id, v.draft_of) as prompt_id, v.number, v.label, v.variables, v.message_lists, v.file_variables, v.model, v.temperature,
  v.max_tokens, v.top_p, v.settings, v.notes, v.created_by, v.created_at`;
/** SQL: the columns of a `StoredVersion` of version `v`. */
export const versionColumns = sql`${summaryColumns}, ${contentColumns}, v.response_format,
  v.variable_schemas`;

export type StoredVersion = Omit<VersionRow, keyof VersionContent> & StoredContent;

export function versionOf({ content, ...row }: StoredVersion): VersionRow {
  return { ...row, ...contentOf({ ...row, content }) };
}

export async function findVersionSummary(
  db: Db,
  promptId: string,
  id: string,
): Promise<VersionSummaryRow | null> {
  const { rows } = await sql<VersionSummaryRow>`
    select ${summaryColumns} from prompt_versions v
    where v.id = ${id} and v.prompt_id = ${promptId}`.execute(db);
  return rows[0] ?? null;
}

/** By its label or its identifier in the API. */
export async function findNamedVersion(
  db: Db,
  promptId: string,
  name: string,
): Promise<VersionRow | null> {
  const { rows } = await sql<StoredVersion>`
    select ${versionColumns} from prompt_versions v
    where v.prompt_id = ${promptId} and (v.label = ${name} or v.id = ${storedId('version', name)})
    order by v.label = ${name} desc limit 1`.execute(db);
  return rows[0] ? versionOf(rows[0]) : null;
}

/** Those of these labels that versions of the prompt have. */
export async function findLabels(
  db: Db,
  promptId: string,
  labels: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ label: string }>`
    select label from prompt_versions
    where prompt_id = ${promptId} and label = any (${labels}::text[])`.execute(db);
  return rows.map(({ label }) => label);
}

/** The newest version of each of these prompts that has versions. */
export async function findLatestVersions(
  db: Db,
  promptIds: readonly string[],
): Promise<VersionSummaryRow[]> {
  const { rows } = await sql<VersionSummaryRow>`
    select ${summaryColumns} from unnest(${promptIds}::uuid[]) as given (id) cross join lateral (
      select * from prompt_versions where prompt_id = given.id order by number desc limit 1) as v`.execute(
    db,
  );
  return rows;
}

export function listVersions(
  db: Db,
  promptId: string,
  page: Page,
): Promise<{ rows: VersionSummaryRow[]; total: number }> {
  const from = sql`prompt_versions v where v.prompt_id = ${promptId}`;
  return readPage(db, { columns: summaryColumns, from, order: sql`v.number desc` }, page);
}

/** Null if the prompt has a version with that label. */
export async function insertVersion(trx: Trx, version: NewVersion): Promise<VersionRow | null> {
  const { rows } = await sql<StoredVersion>`
    insert into prompt_versions as v (id, prompt_id, workspace_id, number, label, system_template,
      user_template, content, variables, message_lists, file_variables, model, temperature, max_tokens, top_p, settings, notes,
      created_by, response_format, variable_schemas, draft_of, draft_agent_id)
    values (${version.id}, ${version.promptId}, ${version.workspaceId}, ${version.number},
      ${version.label}, ${version.system}, ${version.user}, ${storedContent(version)}::json,
      ${version.variables}::text[], ${messageLists(version.messages)}::text[],
      ${JSON.stringify(fileVariables(version.messages))}::jsonb,
      ${version.model}, ${version.temperature}, ${version.maxTokens}, ${version.topP},
      ${JSON.stringify(version.settings)}::jsonb, ${version.notes}, ${version.createdBy},
      ${version.responseFormat}, ${version.variableSchemas}, ${version.draft?.promptId ?? null},
      ${version.draft?.agentId ?? null})
    on conflict (prompt_id, label) do nothing
    returning ${versionColumns}`.execute(trx);
  return rows[0] ? versionOf(rows[0]) : null;
}
