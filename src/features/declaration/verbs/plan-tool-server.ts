import type { Compute } from '../../../core/compute.ts';
import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { identical, same } from '../../../core/json.ts';
import type { Caller } from '../../../core/people/caller.ts';
import {
  type ToolDefinition,
  toolConcurrencyDefault,
  toolTimeoutMsDefault,
} from '../../../core/tools/tool-server.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { requireToolSchemas } from '../../../engine/compute/require-schemas.ts';
import { definitionOf } from '../../tools/rules/tool-definition.ts';
import { findToolServerByName, readCatalog } from '../../tools/statements/tool-servers.ts';
import {
  changeToolServer,
  createToolServer,
  requireAllowed,
  requireHTTP,
  type ToolServerDeps,
} from '../../tools/verbs/change-tool-server.ts';
import { openHeaders } from '../../tools/verbs/tool-secrets.ts';
import type { Change, Planning } from './planning.ts';

export interface DeclaredToolServer {
  readonly name: string;
  readonly kind: 'http' | 'mcp' | 'callback';
  readonly url?: string;
  /** Left as they are unless given. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly maxConcurrency?: number;
  readonly enabled?: boolean;
  readonly tools?: readonly ToolDefinition[];
}

/**
 * Addresses are looked up and schemas read in the compute thread, so they are checked before anything is locked. Unchanged servers
 * need the permission too: otherwise dry runs could be used to guess their settings. Stored schemas are not checked again.
 */
export async function requireAllowedServers(
  deps: Pick<ToolServerDeps, 'db' | 'checkToolServerURL'> & { readonly compute: Compute },
  { workspaceId, rights }: Caller,
  servers: readonly DeclaredToolServer[],
): Promise<void> {
  if (servers.length > 0 && !rights.includes('own')) {
    const message = 'Tool servers in a declaration need the permission "own".';
    throw new CallFailure('PERMISSION_DENIED', message);
  }
  for (const { name, url = null, headers = {}, tools = [] } of servers) {
    const place = `The tool server "${name}": `;
    await requireAllowed(deps, { url, headers, tools }, place);
    const known = await findToolServerByName(deps.db, workspaceId, name);
    if (known && (await hasTools(deps.db, known.id, tools))) continue;
    await requireToolSchemas(deps.compute, workspaceId, tools, `${place}Field "`);
  }
}

async function hasTools(
  db: Db,
  serverId: string,
  tools: readonly ToolDefinition[],
): Promise<boolean> {
  const catalog = await readCatalog(db, serverId);
  return same(catalog.map(definitionOf), tools.map(definitionOf));
}

/** Plans a tool server. Its signing secret is made by the server, and shown by a rotation. */
export async function planToolServer(
  planning: Planning,
  declared: DeclaredToolServer,
): Promise<void> {
  const { trx, caller, changes, add, sealKey } = planning;
  const { name, kind, headers, enabled = true, tools = [] } = declared;
  const addChange = (one: Omit<Change, 'kind' | 'name'>) =>
    void changes.push({ kind: 'toolServer', name, ...one });
  const depsAt = (at: Trx) => ({ db: at, sealKey, checkToolServerURL: async () => null });
  const known = await findToolServerByName(trx, caller.workspaceId, name);
  planning.toolServers.set(name, new Set(tools.map((tool) => tool.name)));
  if (!known) {
    requireHTTP(declared);
    addChange({ action: 'create' });
    add(async (at) => {
      const { id } = await createToolServer(depsAt(at), caller, declared);
      if (!enabled) await changeToolServer(depsAt(at), caller, id, { enabled });
    });
    return;
  }
  if (known.kind !== kind)
    throw invalidRequest(`Its kind is "${known.kind}", which cannot change.`);
  const { timeoutMs = toolTimeoutMsDefault, maxConcurrency = toolConcurrencyDefault } = declared;
  const settings = { url: declared.url ?? null, timeoutMs, maxConcurrency, enabled };
  const fields = ['url', 'timeoutMs', 'maxConcurrency', 'enabled'] as const;
  const different = fields.filter((field) => known[field] !== settings[field]);
  for (const field of different) {
    addChange({ action: 'change', field, from: known[field], to: settings[field] });
  }
  const hasOtherTools = !(await hasTools(trx, known.id, tools));
  if (hasOtherTools)
    addChange({ action: 'change', field: 'tools', to: tools.map((one) => one.name) });
  const hasOtherHeaders =
    headers !== undefined && !identical(sorted(openHeaders(sealKey, known)), sorted(headers));
  if (hasOtherHeaders) addChange({ action: 'change', field: 'headers', to: Object.keys(headers) });
  if (different.length === 0 && !hasOtherTools && !hasOtherHeaders) return;
  const { url, ...others } = settings;
  const patch = { ...others, tools, ...(url !== null && { url }), ...(headers && { headers }) };
  add((at) => changeToolServer(depsAt(at), caller, known.id, patch));
}

function sorted(headers: Readonly<Record<string, string>> | null): unknown {
  return headers && Object.entries(headers).sort();
}
