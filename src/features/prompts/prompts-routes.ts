import type { FastifyInstance } from 'fastify';
import type { TemplateMessage } from '../../core/agent/messages.ts';
import { placeholderWarnings } from '../../core/agent/prompt.ts';
import { invalidRequest, requireFound } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import type { Caller } from '../../core/people/caller.ts';
import type { ExecutedTool } from '../../core/tools/executed-tool.ts';
import type { Db } from '../../db/database.ts';
import {
  requireSchemas,
  requireToolSchemas,
  warningsOf,
} from '../../engine/compute/require-schemas.ts';
import type { Body } from '../../http/contract/operation.ts';
import { etag, ifMatch } from '../../http/request/if-match.ts';
import { pageOf, readPage } from '../../http/request/page-query.ts';
import { route } from '../../http/route.ts';
import type { ApiDeps } from '../api-deps.ts';
import { requireWholeWorkspace } from '../people/access/require-permission.ts';
import * as contract from './contract/prompts-contract.ts';
import {
  findPrompt,
  findVisibleVersion,
  listPrompts,
  type PromptRow,
} from './statements/prompts.ts';
import { listVersions, type VersionRow, type VersionSummaryRow } from './statements/versions.ts';
import { changePrompt, createPrompt } from './verbs/change-prompt.ts';
import { createVersion, refreshTools, requireValid, versionInput } from './verbs/create-version.ts';

/** Prompts and their versions. A key that is restricted to agents can only read their prompts and add versions. */
export function promptRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  route(app, deps, contract.createPrompt, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const defaults = { description: null, visibility: 'private' } as const;
    const row = await createPrompt(db, caller, { ...defaults, ...body });
    return promptResponse(row, { location: `/api/v1/prompts/${toId('prompt', row.id)}` });
  });

  route(app, deps, contract.listPrompts, async ({ query, caller }) => {
    const page = readPage(query);
    const { q = null, archived = false } = query;
    const { rows, total } = await listPrompts(db, caller, { ...page, q, archived });
    return { result: pageOf('prompts', page, { rows: rows.map(promptOf), total }) };
  });

  route(app, deps, contract.getPrompt, async ({ ids, caller }) => {
    return promptResponse(await requirePrompt(db, caller, ids.promptId));
  });

  route(app, deps, contract.updatePrompt, async ({ ids, body, caller, request }) => {
    requireWholeWorkspace(caller);
    return promptResponse(await changePrompt(db, caller, ids.promptId, body, ifMatch(request)));
  });

  for (const [endpoint, archived] of [
    [contract.archivePrompt, true],
    [contract.restorePrompt, false],
  ] as const) {
    route(app, deps, endpoint, async ({ ids, caller }) => {
      requireWholeWorkspace(caller);
      return promptResponse(await changePrompt(db, caller, ids.promptId, { archived }));
    });
  }

  route(app, deps, contract.createPromptVersion, async ({ ids, body, caller }) => {
    const row = await addVersion(deps, caller, ids.promptId, body);
    const path = `/api/v1/prompts/${toId('prompt', row.promptId)}`;
    const location = `${path}/versions/${toId('version', row.id)}`;
    return { result: await withWarnings(row, caller), headers: { location } };
  });

  route(app, deps, contract.listPromptVersions, async ({ ids, query, caller }) => {
    const page = readPage(query);
    const prompt = await requirePrompt(db, caller, ids.promptId);
    const { rows, total } = await listVersions(db, prompt.id, page);
    return { result: pageOf('versions', page, { rows: rows.map(summaryOf), total }) };
  });

  route(app, deps, contract.getPromptVersion, async ({ ids, caller }) => {
    const row = await findVisibleVersion(db, caller, ids.promptId, ids.promptVersionId);
    if (!row) await requirePrompt(db, caller, ids.promptId);
    return { result: await withWarnings(requireFound(row, 'version', 'prompt'), caller) };
  });

  async function withWarnings(row: VersionRow, { workspaceId }: Caller) {
    const format = JSON.parse(row.responseFormat ?? 'null');
    return versionOf(row, await warningsOf(deps.compute, workspaceId, format));
  }
}

async function addVersion(
  { db, compute }: ApiDeps,
  caller: Caller,
  promptId: string,
  { from, refreshTools: isRefresh, ...fields }: Body<typeof contract.createPromptVersion>,
): Promise<VersionRow> {
  if (from === undefined && isRefresh === undefined) {
    const input = versionInput(fields);
    requireValid(input);
    await requireSchemas(compute, caller.workspaceId, input);
    await requireToolSchemas(compute, caller.workspaceId, input.tools ?? []);
    return createVersion(db, caller, promptId, input);
  }
  const { label = null, notes = null, ...others } = fields;
  if (from === undefined || isRefresh !== true) {
    throw invalidRequest('Fields "from" and "refreshTools": true belong together.');
  }
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw invalidRequest(`Field "${other}" is that of the version in "from". Leave it out.`);
  }
  return refreshTools(db, caller, promptId, { from, label, notes });
}

async function requirePrompt(db: Db, caller: Caller, id: string): Promise<PromptRow> {
  return requireFound(await findPrompt(db, caller, id), 'prompt');
}

function promptResponse(row: PromptRow, headers: Record<string, string> = {}) {
  return { result: promptOf(row), headers: { ...headers, etag: etag(row.revision) } };
}

function promptOf(row: PromptRow) {
  return {
    ...row,
    // Version numbers have no gaps, and versions are never deleted.
    versionCount: row.latest?.number ?? 0,
    latestVersion: row.latest && summaryOf(row.latest),
  };
}

function summaryOf<Row extends Omit<VersionSummaryRow, 'number'>>(row: Row) {
  return { ...row, ...row.settings, promptVersionLabel: row.label };
}

function versionOf(row: VersionRow, schemaWarnings: readonly string[]) {
  return {
    ...summaryOf(row),
    messages: row.messages?.map(messageOf),
    tools: row.executedTools?.map(versionTool) ?? row.tools,
    variableSchemas: JSON.parse(row.variableSchemas ?? '{}'),
    responseFormat: row.responseFormat === null ? null : JSON.parse(row.responseFormat),
    warnings: [...placeholderWarnings(row), ...schemaWarnings],
  };
}

function versionTool({ server: _, serverName: server, ...tool }: ExecutedTool) {
  return { server, ...tool };
}

/** Messages are stored as they came, with their fields in any order. */
function messageOf(message: TemplateMessage) {
  return 'placeholder' in message ? message : { role: message.role, content: message.content };
}
