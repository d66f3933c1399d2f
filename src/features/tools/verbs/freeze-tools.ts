import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { isObject } from '../../../core/is-object.ts';
import type { Caller } from '../../../core/people/caller.ts';
import type { ExecutedTool } from '../../../core/tools/executed-tool.ts';
import type { ToolReference } from '../../../core/tools/tool-reference.ts';
import { definitionsCharsMax, resultLimitDefault } from '../../../core/tools/tool-server.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { requireWholeWorkspace } from '../../people/access/require-permission.ts';
import {
  hasWorkersWithoutTools,
  lockToolServers,
  type NamedTool,
  readToolsByServer,
} from '../statements/tool-servers.ts';

/** The tools of a new version. Their servers cannot be deleted until the transaction ends. */
export async function freezeTools(
  trx: Trx,
  caller: Caller,
  references: readonly ToolReference[],
): Promise<ExecutedTool[]> {
  await lockToolServers(trx, caller.workspaceId, serversOf(references));
  const tools = await readTools(trx, caller, references);
  if (await hasWorkersWithoutTools(trx)) {
    const message =
      'Workers of an earlier version, which run no tools, are still running. Create it once they have stopped.';
    throw new CallFailure('UNAVAILABLE', message);
  }
  return tools;
}

/**
 * Tools as they are now.
 * @throws {CallFailure} that names the tool
 */
export async function readTools(
  db: Db,
  caller: Caller,
  references: readonly ToolReference[],
): Promise<ExecutedTool[]> {
  // What the tools reach concerns more than the agents of a restricted key.
  requireWholeWorkspace(caller);
  const names = serversOf(references);
  const { servers, tools } = await readToolsByServer(db, caller.workspaceId, names);
  const frozen = references.map((reference, index) => {
    const place = `tools.${index}`;
    const { server, tool } = reference;
    if (!servers.has(server)) {
      throw invalidRequest(`Field "${place}.server": there is no tool server "${server}".`);
    }
    const found = tools.find((one) => one.server === server && one.name === tool);
    if (!found || found.state === 'gone') {
      throw invalidRequest(`Field "${place}.tool": the server "${server}" has no tool "${tool}".`);
    }
    return freeze(reference, found, place);
  });
  if (JSON.stringify(frozen).length > definitionsCharsMax) {
    const message = `Field "tools" must have at most ${definitionsCharsMax} characters as JSON, with the definitions of its servers.`;
    throw invalidRequest(message);
  }
  return frozen;
}

function serversOf(references: readonly ToolReference[]): string[] {
  return [...new Set(references.map(({ server }) => server))];
}

function freeze(reference: ToolReference, found: NamedTool, place: string): ExecutedTool {
  const { safe = false, bind = {}, resultLimit = resultLimitDefault, description } = reference;
  requireNoApproval(reference, place);
  requireBindable(bind, found, place);
  const shown = description ?? found.description;
  return {
    name: reference.name ?? found.name,
    ...(shown !== '' && { description: shown }),
    ...(description !== undefined && { isDescribed: true }),
    inputSchema: found.inputSchema,
    ...{ server: found.serverId, serverName: found.server, tool: found.name },
    ...{ digest: found.digest, approval: 'never', safe, bind, resultLimit },
    timeoutMs: found.timeoutMs,
  };
}

function requireNoApproval({ tool, approval, safe = false }: ToolReference, place: string): void {
  if (approval === 'never' || (approval === undefined && safe)) return;
  const message = `Field "${place}.approval": calls of "${tool}" would wait for an approval, and approvals do not exist yet. Set "approval" to "never" to have it called without one.`;
  throw invalidRequest(message);
}

function requireBindable(
  bind: Readonly<Record<string, string>>,
  { inputSchema, name }: NamedTool,
  place: string,
): void {
  const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
  const unknown = Object.keys(bind).find((property) => !Object.hasOwn(properties, property));
  if (unknown === undefined) return;
  throw invalidRequest(
    `Field "${place}.bind": the schema of "${name}" has no property "${unknown}".`,
  );
}
