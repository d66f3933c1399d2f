import type { ToolDefinition, ToolServerKind, ToolState } from '../../../core/tools/tool-server.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** Tool servers of a workspace and their tools. What is sealed cannot be opened here. */

export interface ToolServerSettings {
  readonly name: string;
  /** Null for a kind without an address. */
  readonly url: string | null;
  readonly timeoutMs: number;
  readonly maxConcurrency: number;
  readonly enabled: boolean;
}

export interface ToolServerRow extends ToolServerSettings {
  readonly id: string;
  readonly kind: ToolServerKind;
  readonly headerNames: readonly string[];
  readonly revision: number;
  readonly checkedAt: Date | null;
  readonly problem: string | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly toolNames: readonly string[];
}

export interface CatalogRow extends ToolDefinition {
  readonly digest: string;
  readonly state: ToolState;
}

const columns = sql`s.id, s.name, s.kind, s.url, s.header_names, s.timeout_ms, s.max_concurrency, s.enabled, s.revision,
  s.checked_at, s.problem, s.created_by, s.created_at, s.updated_at,
  array(select name from tool_catalog where server_id = s.id order by position) as tool_names`;

export async function listToolServers(db: Db, workspaceId: string): Promise<ToolServerRow[]> {
  const { rows } = await sql<ToolServerRow>`
    select ${columns} from tool_servers s where s.workspace_id = ${workspaceId}
    order by s.name collate "C"`.execute(db);
  return rows;
}

export interface ListedTool {
  readonly server: string;
  readonly tool: string;
  readonly description?: string;
  readonly inputSchema?: ToolDefinition['inputSchema'];
}

/** Of enabled servers. Those of all servers are without definitions, which may have megabytes together. */
export async function listTools(
  db: Db,
  workspaceId: string,
  server: string | null,
): Promise<ListedTool[]> {
  const { rows } = await sql<{ server: string; tool: string; definition: string | null }>`
    select s.name as server, c.name as tool, case when ${server !== null} then c.definition end as definition
    from tool_servers s join tool_catalog c on c.server_id = s.id
    where s.workspace_id = ${workspaceId} and s.enabled and c.state <> 'gone'
      and (${server}::text is null or s.name = ${server})
    order by s.name collate "C", c.position`.execute(db);
  return rows.map(({ definition, server, tool }) => {
    const { description, inputSchema } = JSON.parse(definition ?? '{}');
    return { server, tool, description, inputSchema };
  });
}

export async function findToolServer(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<ToolServerRow | null> {
  const { rows } = await sql<ToolServerRow>`
    select ${columns} from tool_servers s where s.id = ${id} and s.workspace_id = ${workspaceId}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** With its sealed headers. */
export async function findToolServerByName(
  db: Db,
  workspaceId: string,
  name: string,
): Promise<(ToolServerRow & SealedHeaders) | null> {
  const { rows } = await sql<ToolServerRow & SealedHeaders>`
    select ${columns}, s.workspace_id, s.sealed_headers from tool_servers s
    where s.workspace_id = ${workspaceId} and s.name = ${name}`.execute(db);
  return rows[0] ?? null;
}

export interface SealedHeaders {
  readonly id: string;
  readonly workspaceId: string;
  readonly sealedHeaders: Buffer | null;
}

/** Locks the server, so that changes of it take turns. */
export async function lockToolServer(
  trx: Trx,
  workspaceId: string,
  id: string,
): Promise<ToolServerRow | null> {
  await sql`
    select from tool_servers where id = ${id} and workspace_id = ${workspaceId} for no key update`.execute(
    trx,
  );
  return findToolServer(trx, workspaceId, id);
}

/** Locks the workspace's row, so that two concurrent requests together cannot exceed the limit. */
export async function countToolServers(trx: Trx, workspaceId: string): Promise<number> {
  await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(trx);
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from tool_servers where workspace_id = ${workspaceId}`.execute(trx);
  return Number(rows[0]?.n ?? 0);
}

export interface NewToolServer extends ToolServerSettings {
  readonly id: string;
  readonly workspaceId: string;
  readonly kind: ToolServerKind;
  readonly headerNames: readonly string[];
  readonly sealedHeaders: Buffer | null;
  readonly sealedSecret: Buffer;
  readonly createdBy: string | null;
}

/** False if the workspace has a server of that name. */
export async function insertToolServer(trx: Trx, server: NewToolServer): Promise<boolean> {
  const { rowCount } = await sql`
    insert into tool_servers (id, workspace_id, name, kind, url, header_names, sealed_headers, sealed_secret,
      timeout_ms, max_concurrency, enabled, created_by)
    values (${server.id}, ${server.workspaceId}, ${server.name}, ${server.kind}, ${server.url},
      ${server.headerNames}, ${server.sealedHeaders}, ${server.sealedSecret}, ${server.timeoutMs},
      ${server.maxConcurrency}, ${server.enabled}, ${server.createdBy})
    on conflict (workspace_id, name) do nothing`.execute(trx);
  return rowCount > 0;
}

/** Needs the lock of the server. Leaves its headers as they are unless given. */
export async function updateToolServer(
  trx: Trx,
  id: string,
  settings: ToolServerSettings,
  headers: Pick<NewToolServer, 'headerNames' | 'sealedHeaders'> | null,
): Promise<void> {
  const sealed = headers?.sealedHeaders ?? null;
  await sql`
    update tool_servers set name = ${settings.name}, url = ${settings.url},
      timeout_ms = ${settings.timeoutMs}, max_concurrency = ${settings.maxConcurrency},
      enabled = ${settings.enabled},
      header_names = case when ${headers !== null} then ${headers?.headerNames ?? []}::text[] else header_names end,
      sealed_headers = case when ${headers !== null} then ${sealed}::bytea else sealed_headers end,
      revision = revision + 1, updated_at = clock_timestamp()
    where id = ${id}`.execute(trx);
}

/** Whether another server of the workspace has the name. */
export async function isNameTaken(
  trx: Trx,
  workspaceId: string,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from tool_servers where workspace_id = ${workspaceId} and name = ${name} and id <> ${id}`.execute(
    trx,
  );
  return rows.length > 0;
}

/** The current secret becomes the previous one, which still signs for the grace period. */
export async function replaceServerSecret(
  trx: Trx,
  id: string,
  { sealedSecret, graceSeconds }: { readonly sealedSecret: Buffer; readonly graceSeconds: number },
): Promise<void> {
  const isKept = graceSeconds > 0;
  await sql`
    update tool_servers set sealed_secret = ${sealedSecret}, updated_at = clock_timestamp(), revision = revision + 1,
      previous_sealed_secret = case when ${isKept} then sealed_secret end,
      previous_until = case when ${isKept} then clock_timestamp() + make_interval(secs => ${graceSeconds}) end
    where id = ${id}`.execute(trx);
}

export async function writeCheck(db: Db, id: string, problem: string | null): Promise<void> {
  await sql`
    update tool_servers set checked_at = clock_timestamp(), problem = ${problem} where id = ${id}`.execute(
    db,
  );
}

/** Whether a version has tools of the server, which it names. */
export async function isNamedByVersions(trx: Trx, serverId: string): Promise<boolean> {
  const { rows } = await sql`
    select from version_tool_servers where server_id = ${serverId} limit 1`.execute(trx);
  return rows.length > 0;
}

/** The agents that pin a version with tools of the server, and how many there are. */
export async function findAgentsUsing(
  trx: Trx,
  serverId: string,
): Promise<{ readonly names: string[]; readonly count: number }> {
  const { rows } = await sql<{ name: string; count: number }>`
    select a.name, count(*) over () as count
    from version_tool_servers v join agents a on a.prompt_version_id = v.prompt_version_id
    where v.server_id = ${serverId} and a.deleted_at is null
    order by a.name, a.id limit ${namesMax}`.execute(trx);
  return { names: rows.map(({ name }) => name), count: Number(rows[0]?.count ?? 0) };
}

const namesMax = 5;

export async function deleteToolServer(trx: Trx, id: string): Promise<void> {
  await sql`delete from tool_servers where id = ${id}`.execute(trx);
}

/** In the order of their declaration. */
export async function readCatalog(db: Db, serverId: string): Promise<CatalogRow[]> {
  const { rows } = await sql<{ definition: string; digest: string; state: ToolState }>`
    select definition, digest, state from tool_catalog where server_id = ${serverId}
    order by position`.execute(db);
  return rows.map(({ definition, ...row }) => ({ ...JSON.parse(definition), ...row }));
}

/** Needs the lock of the server. Replaces its tools. */
export async function writeCatalog(
  trx: Trx,
  serverId: string,
  tools: readonly (ToolDefinition & { readonly digest: string })[],
): Promise<void> {
  await sql`delete from tool_catalog where server_id = ${serverId}`.execute(trx);
  const definitions = tools.map(({ digest: _, ...definition }) => JSON.stringify(definition));
  await sql`
    insert into tool_catalog (server_id, name, position, definition, digest)
    select ${serverId}, t.name, t.position, t.definition::json, t.digest
    from unnest(${tools.map(({ name }) => name)}::text[], ${definitions}::text[],
      ${tools.map(({ digest }) => digest)}::text[]) with ordinality as t (name, definition, digest, position)`.execute(
    trx,
  );
}

export interface NamedTool extends CatalogRow {
  readonly serverId: string;
  readonly server: string;
  readonly timeoutMs: number;
}

/** Keeps servers from being deleted until the transaction ends. */
export async function lockToolServers(
  trx: Trx,
  workspaceId: string,
  names: readonly string[],
): Promise<void> {
  await sql`
    select from tool_servers where workspace_id = ${workspaceId} and name = any(${names}::text[])
    order by id for key share`.execute(trx);
}

export async function readToolsByServer(
  db: Db,
  workspaceId: string,
  names: readonly string[],
): Promise<{ readonly servers: ReadonlySet<string>; readonly tools: NamedTool[] }> {
  const { rows: found } = await sql<{ id: string; name: string; timeoutMs: number }>`
    select id, name, timeout_ms from tool_servers
    where workspace_id = ${workspaceId} and name = any(${names}::text[])`.execute(db);
  const tools: NamedTool[] = [];
  for (const { id, name, timeoutMs } of found) {
    const catalog = await readCatalog(db, id);
    tools.push(...catalog.map((tool) => ({ ...tool, serverId: id, server: name, timeoutMs })));
  }
  return { servers: new Set(found.map(({ name }) => name)), tools };
}

/** Whether a worker of an earlier version runs, which would call the model of a version without its tools. */
export async function hasWorkersWithoutTools(trx: Trx): Promise<boolean> {
  const { rows } = await sql`select from workers where not runs_tools limit 1`.execute(trx);
  return rows.length > 0;
}

export async function insertVersionServers(
  trx: Trx,
  promptVersionId: string,
  serverIds: readonly string[],
): Promise<void> {
  await sql`
    insert into version_tool_servers (prompt_version_id, server_id)
    select ${promptVersionId}, id from unnest(${serverIds}::uuid[]) as id`.execute(trx);
}

export interface SealedToolServer {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly sealedHeaders: Buffer | null;
  readonly sealedSecret: Buffer;
  readonly previousSealedSecret: Buffer | null;
}

/** The encrypted values of all workspaces, locked until the transaction ends. */
export async function lockSealedToolServers(trx: Trx): Promise<SealedToolServer[]> {
  const { rows } = await sql<SealedToolServer>`
    select id, workspace_id, name, sealed_headers, sealed_secret, previous_sealed_secret
    from tool_servers order by id for update`.execute(trx);
  return rows;
}

export async function updateSealedToolServers(
  trx: Trx,
  rows: readonly { readonly id: string; readonly sealed: Buffer }[],
  column: 'sealed_headers' | 'sealed_secret' | 'previous_sealed_secret',
): Promise<void> {
  await sql`
    update tool_servers p set ${sql.raw(column)} = n.sealed
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ sealed }) => sealed)}::bytea[])
      as n (id, sealed)
    where p.id = n.id`.execute(trx);
}
