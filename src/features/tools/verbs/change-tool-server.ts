import { CallFailure, invalidRequest, requireFound } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { same } from '../../../core/json.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Precondition, refuseStale } from '../../../core/precondition.ts';
import {
  definitionDigest,
  definitionsCharsMax,
  isOutbound,
  type ToolDefinition,
  type ToolServerKind,
  toolConcurrencyDefault,
  toolServersMax,
  toolTimeoutMsDefault,
  toolURL,
} from '../../../core/tools/tool-server.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { definitionOf } from '../rules/tool-definition.ts';
import { serverHeadersProblem } from '../rules/tool-request.ts';
import * as store from '../statements/tool-servers.ts';
import { newSigningSecret, sealedHeaders } from './tool-secrets.ts';

/** Creates, changes and deletes tool servers, and rotates their secrets. */

export interface ToolServerDeps {
  readonly db: Db;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  /** The public reason why a URL is not allowed; null if it is. */
  readonly checkToolServerURL: (url: string) => Promise<string | null>;
}

export interface ToolServerInput {
  readonly name: string;
  readonly kind: ToolServerKind;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly maxConcurrency?: number;
  readonly tools?: readonly ToolDefinition[];
}

export type ToolServerPatch = Partial<Omit<ToolServerInput, 'kind'>> & {
  readonly enabled?: boolean;
};

/** A server with its tools as they are today. */
export interface ToolServer extends store.ToolServerRow {
  readonly tools: readonly store.CatalogRow[];
}

/**
 * @returns with the secret, which is stored encrypted, so show it now. Without one if no request is signed yet: a rotation shows
 * one once it is needed.
 */
export async function createToolServer(
  deps: ToolServerDeps,
  caller: Caller,
  input: ToolServerInput,
): Promise<ToolServer & { readonly signingSecret?: string }> {
  const { name, kind, headers = {}, tools = [] } = input;
  const url = requireHTTP(input);
  await requireAllowed(deps, { url, headers, tools });
  const { workspaceId, userId: createdBy } = caller;
  return inTransaction(deps.db, async (trx) => {
    if ((await store.countToolServers(trx, workspaceId)) >= toolServersMax) {
      throw new CallFailure('CONFLICT', `A workspace has at most ${toolServersMax} tool servers.`);
    }
    const id = uuid7(await readClock(trx));
    const owner = { workspaceId, id };
    const { secret: signingSecret, sealedSecret } = newSigningSecret(deps.sealKey, owner);
    const isNew = await store.insertToolServer(trx, {
      ...{ ...owner, name, kind, url, sealedSecret, createdBy, enabled: true },
      ...sealedHeaders(deps.sealKey, owner, headers),
      timeoutMs: input.timeoutMs ?? toolTimeoutMsDefault,
      maxConcurrency: input.maxConcurrency ?? toolConcurrencyDefault,
    });
    if (!isNew) throw nameTaken(name);
    await store.writeCatalog(trx, id, digested(tools));
    const host = hostOf(url);
    await auditChange(trx, caller, 'toolServer.create', id, { name, kind, host });
    const server = await requireToolServer(trx, caller, id);
    return isOutbound(url) ? { ...server, signingSecret } : server;
  });
}

/** A change to the current values does nothing, so an `ETag` stays valid. Headers cannot be compared, and always change. */
export async function changeToolServer(
  deps: ToolServerDeps,
  caller: Caller,
  id: string,
  patch: ToolServerPatch,
  isCurrent: Precondition = () => true,
): Promise<ToolServer> {
  await requireAllowed(deps, { url: null, headers: {}, tools: [], ...patch });
  return inTransaction(deps.db, async (trx) => {
    const { workspaceId } = caller;
    const row = requireFound(await store.lockToolServer(trx, workspaceId, id), 'tool server');
    refuseStale(row.revision, isCurrent);
    requireOwnHeaders(row, patch);
    const { headers, tools, ...settings } = patch;
    const catalog = await store.readCatalog(trx, id);
    const fields = [
      ...changedFields(row, settings),
      ...(headers ? ['headers'] : []),
      ...(tools && !same(catalog.map(definitionOf), tools.map(definitionOf)) ? ['tools'] : []),
    ];
    if (fields.length === 0) return { ...row, tools: catalog };
    const next = { ...row, ...settings };
    const outside = pathProblem(next.url, tools ?? catalog);
    if (outside) throw invalidRequest(outside);
    if (fields.includes('name')) await requireNewName(trx, workspaceId, next);
    const sealed = headers && sealedHeaders(deps.sealKey, { workspaceId, id }, headers);
    await store.updateToolServer(trx, id, next, sealed ?? null);
    if (tools && fields.includes('tools')) await store.writeCatalog(trx, id, digested(tools));
    const host = settings.url !== undefined && { host: hostOf(settings.url) };
    await auditChange(trx, caller, 'toolServer.change', id, { fields, ...host });
    return requireToolServer(trx, caller, id);
  });
}

export async function rotateToolServer(
  { db, sealKey }: ToolServerDeps,
  caller: Caller,
  id: string,
  graceSeconds: number,
): Promise<string> {
  const { workspaceId } = caller;
  return inTransaction(db, async (trx) => {
    requireFound(await store.lockToolServer(trx, workspaceId, id), 'tool server');
    const { secret, sealedSecret } = newSigningSecret(sealKey, { workspaceId, id });
    await store.replaceServerSecret(trx, id, { sealedSecret, graceSeconds });
    await auditChange(trx, caller, 'toolServer.rotate', id, { graceSeconds });
    return secret;
  });
}

export async function deleteToolServer(
  db: Db,
  caller: Caller,
  id: string,
  isCurrent: Precondition,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const row = await store.lockToolServer(trx, caller.workspaceId, id);
    const { name, revision } = requireFound(row, 'tool server');
    refuseStale(revision, isCurrent);
    const { names, count } = await store.findAgentsUsing(trx, id);
    if (count > 0) {
      const named = names.map((agent) => `"${agent}"`).join(', ');
      const others = count > names.length ? ` and ${count - names.length} more` : '';
      const message = `The pinned versions of agents use this tool server: ${named}${others}. Pin other versions first, or disable the server.`;
      throw new CallFailure('CONFLICT', message);
    }
    await store.deleteToolServer(trx, id);
    await auditChange(trx, caller, 'toolServer.delete', id, { name });
  });
}

export async function requireToolServer(db: Db, caller: Caller, id: string): Promise<ToolServer> {
  const row = requireFound(await store.findToolServer(db, caller.workspaceId, id), 'tool server');
  return { ...row, tools: await store.readCatalog(db, id) };
}

/** Versions name their servers, so a server that one names keeps its name. */
async function requireNewName(
  trx: Trx,
  workspaceId: string,
  server: { readonly id: string; readonly name: string },
): Promise<void> {
  if (await store.isNameTaken(trx, workspaceId, server)) throw nameTaken(server.name);
  if (!(await store.isNamedByVersions(trx, server.id))) return;
  const message = 'Versions of prompts name this tool server. Its name cannot change any more.';
  throw new CallFailure('CONFLICT', message);
}

/** The URL. */
export function requireHTTP({ kind, url }: Pick<ToolServerInput, 'kind' | 'url'>): string {
  if (kind !== 'http') {
    const message = `Field "kind": "${kind}" is not supported yet. Only "http" is.`;
    throw invalidRequest(message);
  }
  if (url === undefined) throw invalidRequest('Field "url" is missing.');
  return url;
}

/**
 * Addresses are looked up, so this comes before anything is locked.
 * @param place the beginning of a message
 */
export async function requireAllowed(
  { checkToolServerURL }: Pick<ToolServerDeps, 'checkToolServerURL'>,
  settings: Pick<store.ToolServerRow, 'url'> & {
    readonly headers: Readonly<Record<string, string>>;
    readonly tools: readonly ToolDefinition[];
  },
  place = '',
): Promise<void> {
  const { url, headers, tools } = settings;
  const problem = isOutbound(url) ? await checkToolServerURL(url) : null;
  if (problem) throw invalidRequest(`${place}Field "url": ${problem}`);
  const wrong = serverHeadersProblem(headers) ?? toolsProblem(tools) ?? pathProblem(url, tools);
  if (wrong) throw invalidRequest(`${place}${wrong}`);
}

function toolsProblem(tools: readonly ToolDefinition[]): string | null {
  for (const [index, { name, inputSchema }] of tools.entries()) {
    if (tools.findIndex((one) => one.name === name) !== index) {
      return `Field "tools" declares "${name}" twice.`;
    }
    if (inputSchema.type !== 'object') {
      return `Field "tools.${index}.inputSchema" must have the "type" "object".`;
    }
  }
  return JSON.stringify(tools.map(definitionOf)).length > definitionsCharsMax
    ? `Field "tools" must have at most ${definitionsCharsMax} characters as JSON.`
    : null;
}

function pathProblem(url: string | null, tools: readonly ToolDefinition[]): string | null {
  if (url === null) return null;
  // The built-in server has no paths, but the one that replaces it will.
  const base = isOutbound(url) ? url : 'https://example.com/';
  const at = tools.findIndex(({ path = '' }) => toolURL(base, path) === null);
  if (at < 0) return null;
  return `Field "tools.${at}.path" must begin with "/", be percent-encoded, and have no "..", query or fragment.`;
}

/** Otherwise whoever changes the address would be sent credentials that nobody can read. */
function requireOwnHeaders(
  { url, headerNames }: store.ToolServerRow,
  { url: next, headers }: ToolServerPatch,
): void {
  if (next === undefined || url === null || headers || headerNames.length === 0) return;
  // Nothing is sent to the built-in server, and what follows it needs them again.
  if (!isOutbound(next)) return;
  if (new URL(next).origin === new URL(url).origin) return;
  const message =
    'Field "url" leads to another origin, which would receive the stored headers. Send "headers" again, or {} for none.';
  throw invalidRequest(message);
}

function changedFields(
  row: store.ToolServerRow,
  settings: Partial<store.ToolServerSettings>,
): string[] {
  const fields = Object.keys(settings) as (keyof store.ToolServerSettings)[];
  return fields.filter((field) => settings[field] !== row[field]);
}

/** For the audit log. */
function hostOf(url: string): string {
  return isOutbound(url) ? new URL(url).host : url;
}

function digested(tools: readonly ToolDefinition[]) {
  return tools.map((tool) => ({ ...definitionOf(tool), digest: definitionDigest(tool) }));
}

function nameTaken(name: string): CallFailure {
  return new CallFailure('CONFLICT', `The workspace already has a tool server "${name}".`);
}
